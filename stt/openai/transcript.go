package openai

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt"
)

// What Whisper's own program takes for a sign that it made up a text, or went
// round in circles.
const (
	noSpeech    = 0.6
	badLogprob  = -1.0
	looping     = 2.4
	loopingSure = 0.2 // the most that is claimed for the text of a loop
)

// slack is how far words may reach beyond the speech that our own detector
// found: it may have missed a soft sound, while Whisper likes to begin at the
// first sample.
const slack = hearken.SampleRate / 5

// remark is what models write for what is not speech: [BLANK_AUDIO], (music).
var remark = regexp.MustCompile(`\[[^\]]*\]|\([^)]*\)|\*[^*]*\*`)

// A heard is what was understood of an utterance.
type heard struct {
	text       string // empty if nobody spoke
	words      []hearken.Word
	estimated  bool
	confidence *float64
	language   string
}

// judge makes of a server's answer what is told of an utterance.
func (a *answer) judge(u *transcription, w *wish) heard {
	kept := slices.Clone(a.segments)
	kept = slices.DeleteFunc(kept, func(s segment) bool { return s.invented() })
	h := heard{text: tidy(a.text), language: detectedLanguage(a.language, w.told)}
	if len(kept) < len(a.segments) {
		texts := make([]string, len(kept))
		for i, s := range kept {
			texts[i] = s.Text
		}
		h.text = tidy(strings.Join(texts, " "))
	}
	if !says(h.text) || h.text == prompt(w.terms) {
		return heard{}
	}
	h.confidence = confidence(kept)
	h.words, h.estimated = a.place(h.text, kept, u)
	return h
}

// tidy makes one line of a text.
func tidy(text string) string { return strings.Join(strings.Fields(text), " ") }

// says tells whether a text is words that somebody said.
func says(text string) bool {
	return strings.ContainsFunc(remark.ReplaceAllString(text, ""), spoken)
}

// invented tells whether the text of a segment is one that nobody said.
func (s *segment) invented() bool {
	return !s.blind() && s.NoSpeechProb != nil && *s.NoSpeechProb > noSpeech && s.AvgLogprob != nil && *s.AvgLogprob < badLogprob
}

// blind tells whether the numbers of a segment say nothing: vLLM fills them in
// with -1.
func (s *segment) blind() bool { return s.CompressionRatio != nil && *s.CompressionRatio < 0 }

// confidence is how sure the server is of segments; nil if it does not say.
func confidence(segments []segment) *float64 {
	var sum, total float64
	loop := false
	for _, s := range segments {
		if s.blind() {
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
	case total > 0 && loop:
		return share(min(loopingSure, sum/total))
	case total > 0:
		return share(sum / total)
	case loop:
		return share(loopingSure)
	}
	return nil
}

// place finds when the words of a text were said: as the server tells, or else
// estimated within each of its segments, or within the whole utterance.
func (a *answer) place(text string, kept []segment, u *transcription) (words []hearken.Word, estimated bool) {
	origin := stt.Seconds(u.pos)
	lo, hi := stt.Seconds(max(u.pos, u.first-slack)), stt.Seconds(min(u.end, u.last+slack))
	if times := a.times(kept); len(times) > 0 && !slices.ContainsFunc(times, timed.broken) {
		words = align(text, times)
		if words == nil {
			words = asGiven(times)
		}
		if fit(words, origin, lo, hi) {
			return words, false
		}
	}
	lo, hi = stt.Seconds(u.first), stt.Seconds(u.last)
	var texts []string
	words = nil
	from := lo
	for _, s := range kept {
		to := min(max(float64(s.End)+origin, from), hi)
		from = min(max(float64(s.Start)+origin, from), to)
		words = append(words, u.estimate(s.Text, from, to)...)
		texts = append(texts, s.Text)
		from = to
	}
	if tidy(strings.Join(texts, " ")) == text && fit(words, 0, lo, hi) {
		return words, true
	}
	return u.estimate(text, lo, hi), true
}

// times are the server's words of the segments that are kept.
func (a *answer) times(kept []segment) []timed {
	var times []timed
	for _, s := range kept {
		times = append(times, s.Words...)
	}
	if len(times) > 0 || len(a.words) == 0 {
		return times
	}
	if len(kept) == len(a.segments) {
		return a.words
	}
	return slices.DeleteFunc(slices.Clone(a.words), func(t timed) bool {
		middle := (t.Start + t.End) / 2
		return !slices.ContainsFunc(kept, func(s segment) bool { return middle >= s.Start && middle <= s.End })
	})
}
