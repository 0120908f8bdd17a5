package openai_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken"
)

// A scriptWord is a word of a script with its time in the audio.
type scriptWord struct {
	start, end float64
	text       string
}

// firstWord is how far the samples of the script's first word are from zero;
// those of the second are one further.
const firstWord = 1000

// audioOf makes audio of so many seconds in which the script is said, for ears
// that know how: a tone for each word, whose height tells which word it is.
// Whoever loses a sample, swaps its bytes or sends it twice is heard to do so.
func audioOf(script []scriptWord, seconds float64) []int16 {
	pcm := make([]int16, int(seconds*hearken.SampleRate))
	for i, w := range script {
		for j := int(w.start * hearken.SampleRate); j < int(w.end*hearken.SampleRate); j++ {
			pcm[j] = firstWord + int16(i)
			if j/20%2 == 1 {
				pcm[j] = -pcm[j]
			}
		}
	}
	return pcm
}

// listen hears what of a script is said in sound. Less than half of a word is
// none.
func listen(script []scriptWord, pcm []int16) []scriptWord {
	var words []scriptWord
	at := func(i int) float64 { return float64(i) / hearken.SampleRate }
	value := func(x int16) int { return max(int(x), -int(x)) }
	for i := 0; i < len(pcm); {
		begin, v := i, value(pcm[i])
		for i < len(pcm) && value(pcm[i]) == v {
			i++
		}
		if n := v - firstWord; n >= 0 && n < len(script) && at(i-begin) >= 0.1 {
			words = append(words, scriptWord{at(begin), at(i), script[n].text})
		}
	}
	return words
}

// text is what the script says.
func text(script []scriptWord) string {
	words := make([]string, len(script))
	for i, w := range script {
		words[i] = w.text
	}
	return strings.Join(words, " ")
}

// phrase makes a script of a text that begins at start, four words in a second.
func phrase(start float64, text string) []scriptWord {
	var script []scriptWord
	for i, w := range strings.Fields(text) {
		at := start + float64(i)*0.25
		script = append(script, scriptWord{at, at + 0.2, w})
	}
	return script
}

// meeting is what most tests hear: 14 seconds, three utterances.
var (
	meeting = slices.Concat(
		phrase(0.6, "could you send me the plan for the new house by friday please because we build in may"),
		phrase(5.8, "of course i will"),
		phrase(9.1, "thank you very much"),
	)
	meetingAudio = audioOf(meeting, 14)

	english = hearken.StreamConfig{Session: "s-1", Origin: hearken.Microphone, Language: "en", Interim: true}
)

// collect reads a stream's events until they end.
func collect(stream hearken.Stream) <-chan []hearken.StreamEvent {
	collected := make(chan []hearken.StreamEvent, 1)
	go func() {
		var events []hearken.StreamEvent
		for e := range stream.Events() {
			events = append(events, e)
		}
		collected <- events
	}()
	return collected
}

// transcribe takes sound through a stream and returns everything that it told.
func transcribe(t *testing.T, p hearken.Provider, cfg hearken.StreamConfig, pcm []int16) []hearken.StreamEvent {
	t.Helper()
	stream, err := p.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	collected := collect(stream)
	for i := 0; i < len(pcm); i += 1600 {
		if stream.Write(hearken.Frame{Pos: cfg.Start + int64(i), PCM: pcm[i:min(i+1600, len(pcm))]}) != nil {
			break // the events tell why
		}
	}
	stream.Close()
	return <-collected
}

// failure is why a stream failed.
func failure(events []hearken.StreamEvent) error {
	for _, e := range events {
		if e.Kind == hearken.Failed {
			return e.Err
		}
	}
	return nil
}

// finals are the entries that came out.
func finals(events []hearken.StreamEvent) []hearken.Segment {
	var segments []hearken.Segment
	for _, e := range events {
		if e.Kind == hearken.Final {
			segments = append(segments, e.Segment)
		}
	}
	return segments
}

// texts are what the entries say, with their status.
func texts(events []hearken.StreamEvent) []string {
	var lines []string
	for _, s := range finals(events) {
		lines = append(lines, strings.TrimSpace(string(s.Status)+" "+s.Text))
	}
	return lines
}
