package upload

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/language"
)

// A transcript is a recording with all its words.
type transcript struct {
	segments []hearken.Segment // in the order in which they were said
	language string            // a tag; may be empty
	duration float64           // in seconds
}

// newTranscript makes a transcript of a job's segments. Words that were
// transcribed late come where they were said.
func newTranscript(j *job) *transcript {
	j.mu.Lock()
	segments := slices.Clone(j.segments)
	j.mu.Unlock()
	slices.SortStableFunc(segments, func(a, b hearken.Segment) int { return cmp.Compare(a.StartTime, b.StartTime) })
	t := &transcript{segments: segments, language: j.request.Language, duration: milliseconds(j.seconds())}
	if j.request.Translate {
		t.language = "en"
	} else if i := slices.IndexFunc(segments, func(s hearken.Segment) bool { return s.Language != "" }); i >= 0 {
		t.language = segments[i].Language
	}
	return t
}

// text is everything that was said.
func (t *transcript) text() string {
	var b strings.Builder
	last := ""
	for _, s := range t.segments {
		text := oneLine(s.Text)
		b.WriteString(separator(last, text, t.language))
		b.WriteString(text)
		last = text
	}
	return b.String()
}

// oneLine is a text with single spaces and without line breaks.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// separator is what goes between two texts: a space, or nothing before the
// first and in languages without spaces.
func separator(last, next, language string) string {
	if last == "" || unspaced(language) {
		return ""
	}
	before, _ := utf8.DecodeLastRuneInString(last)
	after, _ := utf8.DecodeRuneInString(next)
	if unspacedScript(before) && unspacedScript(after) {
		return ""
	}
	return " "
}

// unspaced reports whether a language is written without spaces.
func unspaced(language string) bool {
	primary, _, _ := strings.Cut(strings.ToLower(language), "-")
	return slices.Contains([]string{"ja", "zh", "yue", "th", "lo", "km", "my", "bo"}, primary)
}

// unspacedScript reports whether a character belongs to a script without spaces.
func unspacedScript(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan) ||
		r >= 0x3000 && r <= 0x303f || r >= 0xff00 && r <= 0xff65
}

// A word is a word with its time.
type word struct {
	Word  string  `json:"word"`
	Start float64 `json:"start"`
	End   float64 `json:"end"`
}

// words returns the words of a segment. Without times from the engine, each
// gets its share of the segment's.
func words(s *hearken.Segment) []word {
	var out []word
	for _, w := range s.Words {
		out = append(out, word{w.Word, milliseconds(w.StartTime), milliseconds(w.EndTime)})
	}
	if len(out) > 0 {
		return out
	}
	fields := strings.Fields(s.Text)
	total, at := 0, 0
	for _, f := range fields {
		total += utf8.RuneCountInString(f)
	}
	share := max(0, s.EndTime-s.StartTime) / float64(max(1, total))
	for _, f := range fields {
		n := utf8.RuneCountInString(f)
		out = append(out, word{f, milliseconds(s.StartTime + share*float64(at)), milliseconds(s.StartTime + share*float64(at+n))})
		at += n
	}
	return out
}

// splitBySpeaker splits a segment where the speaker changes, if only its words have
// speakers.
func splitBySpeaker(s hearken.Segment) []hearken.Segment {
	fields := strings.Fields(s.Text)
	if s.Speaker != nil || len(fields) != len(s.Words) || len(fields) == 0 {
		return []hearken.Segment{s}
	}
	var out []hearken.Segment
	for from, i := 0, 1; i <= len(fields); i++ {
		if i < len(fields) && sameSpeaker(s.Words[i].Speaker, s.Words[from].Speaker) {
			continue
		}
		t := s
		t.Words, t.Text, t.Speaker = s.Words[from:i], strings.Join(fields[from:i], " "), s.Words[from].Speaker
		if from > 0 {
			t.StartTime = s.Words[from].StartTime
		}
		if i < len(fields) {
			t.EndTime = s.Words[i-1].EndTime
		}
		out = append(out, t)
		from = i
	}
	return out
}

func sameSpeaker(a, b *int) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// speakerLabel is the letter of a speaker: A, B and so on, then AA.
func speakerLabel(n *int) string {
	if n == nil || *n < 0 {
		return "unknown"
	}
	name := ""
	for i := *n; i >= 0; i = i/26 - 1 {
		name = string(rune('A'+i%26)) + name
	}
	return name
}

// compressionRatio is how well a text compresses. Repetitions, a known failure of
// Whisper, compress too well.
func compressionRatio(text string) float64 {
	if text == "" {
		return 0
	}
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = z.Write([]byte(text)) // to memory
	_ = z.Close()
	return milliseconds(float64(len(text)) / float64(b.Len()))
}

// logprob is a confidence in Whisper's form.
func logprob(confidence *float64) float64 {
	if confidence == nil {
		return 0
	}
	return milliseconds(math.Log(min(1, max(*confidence, 0.001))))
}

// milliseconds rounds to three places.
func milliseconds(seconds float64) float64 { return math.Round(seconds*1000) / 1000 }

// nameOf is the name of a language by its tag, or the tag where it has none.
func nameOf(tag string) string { return cmp.Or(language.Name(tag), tag) }
