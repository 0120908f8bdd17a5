package openai

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt"
)

// What Whisper's own program takes as signs that a text is made up, or repeats
// itself.
const (
	noSpeech    = 0.6
	badLogprob  = -1.0
	looping     = 2.4
	loopingSure = 0.2 // the highest confidence of a text that repeats itself
)

// slack is how far words may reach beyond the speech that our detector found.
// It may have missed a quiet beginning, while Whisper tends to begin at the
// first sample.
const slack = hearken.SampleRate / 5

// remark is how models describe what is not speech: [BLANK_AUDIO], (music).
var remark = regexp.MustCompile(`\[[^\]]*\]|\([^)]*\)|\*[^*]*\*`)

// A transcript is the result for an utterance.
type transcript struct {
	text       string // empty if nobody spoke
	words      []hearken.Word
	estimated  bool
	confidence *float64
	language   string
}

// transcript makes the result for an utterance of a server's answer.
func (a *answer) transcript(u *transcription, o *streamOptions) transcript {
	kept := slices.DeleteFunc(slices.Clone(a.segments), segment.isMadeUp)
	h := transcript{text: singleLine(a.text), language: detectedLanguage(a.language, o.sessionLanguage)}
	if len(kept) < len(a.segments) {
		h.text = textOf(kept)
	}
	if !hasSpeech(h.text) || h.text == vocabularyPrompt(o.terms) {
		return transcript{}
	}
	h.confidence = confidence(kept)
	h.words, h.estimated = a.wordTimes(h.text, kept, u)
	return h
}

func textOf(segments []segment) string {
	texts := make([]string, len(segments))
	for i, s := range segments {
		texts[i] = s.Text
	}
	return singleLine(strings.Join(texts, " "))
}

func singleLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// hasSpeech reports whether a text holds words that somebody said.
func hasSpeech(text string) bool {
	return strings.ContainsFunc(remark.ReplaceAllString(text, ""), isSpoken)
}

// isMadeUp reports whether nobody said the text of a segment.
func (s segment) isMadeUp() bool {
	return !s.withoutNumbers() && s.NoSpeechProb != nil && *s.NoSpeechProb > noSpeech && s.AvgLogprob != nil && *s.AvgLogprob < badLogprob
}

// withoutNumbers reports whether the numbers of a segment mean nothing: vLLM
// fills them with -1.
func (s segment) withoutNumbers() bool { return s.CompressionRatio != nil && *s.CompressionRatio < 0 }

// confidence is the server's confidence in segments; nil if it does not say.
func confidence(segments []segment) *float64 {
	var sum, total float64
	loop := false
	for _, s := range segments {
		if s.withoutNumbers() {
			continue
		}
		if s.AvgLogprob != nil {
			weight := max(0.01, float64(s.End-s.Start))
			sum += weight * math.Exp(min(0, float64(*s.AvgLogprob)))
			total += weight
		}
		loop = loop || s.CompressionRatio != nil && *s.CompressionRatio > looping
	}
	switch {
	case total == 0 && !loop:
		return nil
	case total == 0:
		return asProbability(loopingSure)
	case loop:
		return asProbability(min(loopingSure, sum/total))
	}
	return asProbability(sum / total)
}

// wordTimes finds when the words of a text were said: by the server's times, or
// else estimated within each of its segments, or within the whole utterance.
func (a *answer) wordTimes(text string, kept []segment, u *transcription) (words []hearken.Word, estimated bool) {
	origin := stt.Seconds(u.pos)
	lo, hi := stt.Seconds(max(u.pos, u.first-slack)), stt.Seconds(min(u.end, u.last+slack))
	if times := a.timedWords(kept); len(times) > 0 && !slices.ContainsFunc(times, timedWord.isBroken) {
		words = alignWords(text, times)
		if words == nil {
			words = wordsAsGiven(times)
		}
		if fitIntoTime(words, origin, lo, hi) {
			return words, false
		}
	}
	lo, hi = stt.Seconds(u.first), stt.Seconds(u.last)
	words = nil
	from := lo
	for _, s := range kept {
		to := min(max(float64(s.End)+origin, from), hi)
		from = min(max(float64(s.Start)+origin, from), to)
		words = append(words, u.estimateWords(s.Text, from, to)...)
		from = to
	}
	if textOf(kept) == text && fitIntoTime(words, 0, lo, hi) {
		return words, true
	}
	return u.estimateWords(text, lo, hi), true
}

// timedWords are the server's words of the segments that are kept.
func (a *answer) timedWords(kept []segment) []timedWord {
	var times []timedWord
	for _, s := range kept {
		times = append(times, s.Words...)
	}
	if len(times) > 0 || len(a.words) == 0 {
		return times
	}
	if len(kept) == len(a.segments) {
		return a.words
	}
	return slices.DeleteFunc(slices.Clone(a.words), func(t timedWord) bool {
		middle := (t.Start + t.End) / 2
		return !slices.ContainsFunc(kept, func(s segment) bool { return middle >= s.Start && middle <= s.End })
	})
}
