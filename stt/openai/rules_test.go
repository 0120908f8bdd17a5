package openai

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hearken-dev/hearken/stt/utterance"
)

// A run is some windows of the same kind.
type run struct {
	n     int
	prob  float32
	level float64
}

func pushAll(c *utterance.Cutter, runs []run) (spans []*utterance.Span) {
	for _, r := range runs {
		for range r.n {
			if s := c.Push(r.prob, r.level/20).Ended; s != nil {
				spans = append(spans, s)
			}
		}
	}
	if s := c.End(); s != nil {
		spans = append(spans, s)
	}
	return spans
}

// Whatever is said, every stretch of speech that is long enough is in exactly
// one span, spans are in order, and each has what it needs around its speech.
func TestRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) run {
			r := run{n: rapid.IntRange(1, 40).Draw(t, "n"), prob: 0.1, level: -60}
			if rapid.IntRange(0, 9).Draw(t, "long") == 0 {
				r.n *= 30
			}
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				r.prob, r.level = 0.4, -40
			case 1, 2:
				r.prob, r.level = 0.9, -20
			}
			return r
		}), 1, 30).Draw(t, "runs")
		endpointing := time.Duration(rapid.SampledFrom([]int{0, 0, -1, 100, 300, 2000}).Draw(t, "endpointing")) * time.Millisecond
		spans := pushAll(utterance.NewCutter(cuttingRules(endpointing)), runs)

		n := 0
		for _, r := range runs {
			n += r.n
		}
		in := make([]bool, n)
		end := 0
		for _, s := range spans {
			if s.Start < end || s.First < s.Start || s.Last <= s.First || s.End < s.Last || s.End > n || len(s.Speech) != s.End-s.Start {
				t.Fatalf("span %+v after %d of %d", s, end, n)
			}
			if s.End-s.Start > cuttingRules(0).Max {
				t.Fatalf("a span of %d windows", s.End-s.Start)
			}
			if s.Start > end && s.First-s.Start < cuttingRules(0).PreRoll && s.Start > 0 {
				t.Fatalf("only %d windows before the speech of %+v", s.First-s.Start, s)
			}
			if s.Paused && endpointing < 0 {
				t.Fatal("a pause ended a span, and must not")
			}
			for i := s.Start; i < s.End; i++ {
				in[i] = true
			}
			end = s.End
		}
		at := 0
		for _, r := range runs {
			for i := at; r.prob >= utterance.SpeechProb && r.n >= utterance.MinSpeech && i < at+r.n; i++ {
				if !in[i] {
					t.Fatalf("window %d of the speech from %d to %d is in no span", i, at, at+r.n)
				}
			}
			at += r.n
		}
	})
}

// One that is too long is cut in its longest pause, or where it is quietest.
func TestRules_TooLong(t *testing.T) {
	talk := func(n int) run { return run{n, 0.9, -20} }
	for name, c := range map[string]struct {
		end  []run // of something that is a little too long
		want int   // windows before the end
	}{
		"Pause":    {[]run{{5, 0.1, -60}, talk(30), {10, 0.1, -60}, talk(40), {5, 0.1, -60}, talk(12)}, 63},
		"Quietest": {[]run{talk(40), {5, 0.8, -35}, talk(60)}, 63},
		"NotNow":   {[]run{talk(60), {5, 0.8, -35}, talk(20), {1, 0.8, -60}}, 24},
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			for _, r := range c.end {
				n += r.n
			}
			runs := append([]run{talk(cuttingRules(0).Max - n)}, c.end...)
			spans := pushAll(utterance.NewCutter(cuttingRules(0)), append(runs, talk(50)))
			if len(spans) != 2 || spans[0].End != cuttingRules(0).Max-c.want || spans[1].Start != spans[0].End || spans[0].Paused {
				t.Errorf("%d spans, the first ends %d before the end, want %d", len(spans), cuttingRules(0).Max-spans[0].End, c.want)
			}
		})
	}
}

// A click is no speech, however often it comes.
func TestRules_Click(t *testing.T) {
	var runs []run
	for range 50 {
		runs = append(runs, run{utterance.MinSpeech - 1, 0.9, -20}, run{usualPause, 0.1, -60})
	}
	if spans := pushAll(utterance.NewCutter(cuttingRules(0)), runs); len(spans) != 0 {
		t.Errorf("%d spans", len(spans))
	}
}
