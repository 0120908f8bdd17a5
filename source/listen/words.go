package listen

import (
	"cmp"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hearken-dev/hearken"
)

// unknownConfidence is for words without a confidence. Clients drop words of 0,
// and 1 would be false.
const unknownConfidence = 0.5

// alternativeOf is a segment's text as the stream asked for it.
func (o *options) alternativeOf(seg *hearken.Segment) alternative {
	text := strings.TrimSpace(seg.Text)
	spoken := seg.Words
	if len(spoken) == 0 {
		spoken = spreadWords(text, seg.StartTime, seg.EndTime)
	}
	words := make([]word, 0, len(spoken))
	sum := 0.0
	for i := range spoken {
		w := o.wordOf(&spoken[i], seg)
		if w.Word == "" {
			continue // punctuation that stands alone
		}
		words = append(words, w)
		sum += w.Confidence
	}
	a := alternative{Transcript: text, Words: words}
	if !o.punctuate {
		a.Transcript = normalize(text)
	}
	switch {
	case seg.Confidence != nil:
		a.Confidence = round4(*seg.Confidence)
	case len(words) > 0:
		a.Confidence = round4(sum / float64(len(words)))
	}
	if o.multilingual && seg.Language != "" {
		a.Languages = []string{seg.Language}
	}
	return a
}

func (o *options) wordOf(from *hearken.Word, seg *hearken.Segment) word {
	w := word{
		Word:       normalize(from.Word),
		Start:      millis(from.StartTime),
		End:        millis(from.EndTime),
		Confidence: round4(*cmp.Or(from.Confidence, seg.Confidence, new(unknownConfidence))),
	}
	if o.punctuate {
		w.Punctuated = strings.TrimSpace(from.Word)
	}
	if o.diarize {
		w.Speaker = cmp.Or(from.Speaker, seg.Speaker)
	}
	if o.multilingual {
		w.Language = seg.Language
	}
	return w
}

// spreadWords gives the words of a text times in proportion to their length. Most
// clients take a result without words for silence.
func spreadWords(text string, start, end float64) []hearken.Word {
	fields := strings.Fields(text)
	total := 0
	for _, f := range fields {
		total += utf8.RuneCountInString(f) + 1
	}
	words := make([]hearken.Word, 0, len(fields))
	at, done := start, 0
	for _, f := range fields {
		done += utf8.RuneCountInString(f) + 1
		next := start + (end-start)*float64(done)/float64(total)
		words = append(words, hearken.Word{Word: f, StartTime: at, EndTime: next})
		at = next
	}
	return words
}

// normalize removes capitals and punctuation from a text. It keeps what belongs to
// a word: the apostrophe in "don't", the point in "3.5".
func normalize(text string) string {
	fields := strings.Fields(text)
	left := fields[:0]
	for _, f := range fields {
		if f = normalizeWord([]rune(strings.ToLower(f))); f != "" {
			left = append(left, f)
		}
	}
	return strings.Join(left, " ")
}

func normalizeWord(in []rune) string {
	letter := func(i int) bool {
		return i >= 0 && i < len(in) && (unicode.IsLetter(in[i]) || unicode.IsMark(in[i]) || unicode.IsDigit(in[i]))
	}
	digit := func(i int) bool { return i >= 0 && i < len(in) && unicode.IsDigit(in[i]) }
	var b strings.Builder
	for i, r := range in {
		switch {
		case !unicode.IsPunct(r), strings.ContainsRune("%&@#", r):
			b.WriteRune(r)
		case strings.ContainsRune("'’-", r) && letter(i-1) && letter(i+1),
			strings.ContainsRune(".,:/", r) && digit(i-1) && digit(i+1):
			b.WriteRune(r)
		}
	}
	return b.String()
}

// millis rounds a time to milliseconds; no engine is more precise.
func millis(t float64) float64 { return math.Round(t*1000) / 1000 }

func round4(v float64) float64 { return math.Round(v*10000) / 10000 }
