package moonshine

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hearken-dev/hearken/stt/utterance"
)

// talk is a run of windows that are all speech or all not.
type talk struct {
	windows int
	prob    float32
}

type cutSpan struct{ Start, End, First, Last int }

func segments(talks []talk) (spans []cutSpan, began int) {
	g := utterance.NewCutter(liveMode.rules)
	g.Complete = func() bool { return true }
	return cutBy(g, talks)
}

func cutBy(g *utterance.Cutter, talks []talk) (spans []cutSpan, began int) {
	keep := func(s *utterance.Span) {
		if s != nil {
			spans = append(spans, cutSpan{s.Start, s.End, s.First, s.Last})
		}
	}
	for _, t := range talks {
		for range t.windows {
			c := g.Push(t.prob, float64(t.prob))
			if c.Began {
				began++
			}
			keep(c.Ended)
		}
	}
	keep(g.End())
	return spans, began
}

func TestMode(t *testing.T) {
	for _, tt := range []struct {
		name  string
		talks []talk
		want  []cutSpan
	}{
		{"Silence", []talk{{100, 0}}, nil},
		{"Click", []talk{{30, 0}, {4, 0.9}, {60, 0}}, nil},
		{"OneWord", []talk{{30, 0}, {20, 0.9}, {60, 0}}, []cutSpan{{30 - preRoll, 50 + liveMode.rules.Tail, 30, 50}}},
		{"FromTheFirstSample", []talk{{20, 0.9}, {60, 0}}, []cutSpan{{0, 20 + liveMode.rules.Tail, 0, 20}}},
		{"ShortPauseIsOneSegment", []talk{{30, 0}, {20, 0.9}, {liveMode.rules.CompletePause - 1, 0}, {20, 0.9}, {60, 0}},
			[]cutSpan{{30 - preRoll, 69 + liveMode.rules.CompletePause + liveMode.rules.Tail, 30, 69 + liveMode.rules.CompletePause}}},
		{"LongPauseIsTwo", []talk{{30, 0}, {20, 0.9}, {liveMode.rules.CompletePause, 0}, {20, 0.9}, {60, 0}},
			[]cutSpan{{30 - preRoll, 50 + liveMode.rules.Tail, 30, 50}, {50 + liveMode.rules.Tail, 70 + liveMode.rules.CompletePause + liveMode.rules.Tail, 50 + liveMode.rules.CompletePause, 70 + liveMode.rules.CompletePause}}},
		{"EndOfWordIsKept", []talk{{30, 0}, {20, 0.9}, {3, 0.4}, {60, 0}}, []cutSpan{{30 - preRoll, 53 + liveMode.rules.Tail, 30, 53}}},
		{"FlushInTheMiddle", []talk{{30, 0}, {20, 0.9}}, []cutSpan{{30 - preRoll, 50, 30, 50}}},
		{"FlushOfAClick", []talk{{30, 0}, {2, 0.9}}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, began := segments(tt.talks)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if began != len(tt.want) {
				t.Errorf("speech began %d times", began)
			}
		})
	}
}

func TestMode_CutsAtTheQuietestPlace(t *testing.T) {
	// Ten seconds in, somebody takes a breath of 96 ms.
	quietAt := 310
	got, _ := segments([]talk{{quietAt, 0.95}, {3, 0.6}, {100, 0.95}, {60, 0}})
	if len(got) != 2 {
		t.Fatalf("%d spans: %v", len(got), got)
	}
	if cut := got[0].End; cut < quietAt || cut > quietAt+3 {
		t.Errorf("cut at %d, not in the breath at %d", cut, quietAt)
	}
	if got[1].Start != got[0].End {
		t.Errorf("sound was lost or doubled: %v", got)
	}
}

// A recording is cut in its longest pause, and not because of a shorter one.
func TestMode_WholeCutsInTheLongestPause(t *testing.T) {
	sentence := utterance.Windows(5_000)
	short, long := talk{utterance.Windows(500), 0}, talk{utterance.Windows(1_000), 0}
	said := talk{sentence, 0.9}
	got, _ := cutBy(utterance.NewCutter(recordedMode.rules), []talk{said, short, said, long, said, short, said, {utterance.Windows(3_000), 0}})
	if len(got) != 2 {
		t.Fatalf("%d spans: %v", len(got), got)
	}
	pause := 2*sentence + short.windows
	if cut := got[0]; cut.Last != pause || cut.End <= pause || cut.End >= pause+long.windows {
		t.Errorf("first span is %+v, the pause is from %d to %d", cut, pause, pause+long.windows)
	}
	if next := got[1]; next.First != pause+long.windows || next.Start < got[0].End {
		t.Errorf("second span is %+v after %+v", next, got[0])
	}
}

func TestMode_GuessIsTheFinal(t *testing.T) {
	g := utterance.NewCutter(liveMode.rules)
	g.Complete = func() bool { return true }
	var guess, final *utterance.Span
	for i := range 80 {
		p := float32(0)
		if i < 30 {
			p = 0.9
		}
		c := g.Push(p, float64(p))
		if c.Paused != nil {
			guess = c.Paused
		}
		if c.Ended != nil {
			final = c.Ended
		}
	}
	if diff := cmp.Diff(guess, final); diff != "" {
		t.Error(diff)
	}
}

// What cannot stand alone gets more time, once.
func TestMode_Waits(t *testing.T) {
	for _, tt := range []struct {
		name   string
		pause  int
		enough bool
		spans  int
	}{{"Enough", liveMode.rules.CompletePause + 2, true, 2}, {"NotEnough", liveMode.rules.CompletePause + 2, false, 1}, {"NotEnoughForLong", liveMode.rules.Pause + 2, false, 2}} {
		t.Run(tt.name, func(t *testing.T) {
			g := utterance.NewCutter(liveMode.rules)
			asked := 0
			g.Complete = func() bool { asked++; return tt.enough }
			spans := 0
			for i := range 20 + tt.pause + 20 {
				p := float32(0.9)
				if i >= 20 && i < 20+tt.pause {
					p = 0
				}
				if g.Push(p, float64(p)).Ended != nil {
					spans++
				}
			}
			if g.End() != nil {
				spans++
			}
			if spans != tt.spans || asked != 1 {
				t.Errorf("%d spans, asked %d times", spans, asked)
			}
		})
	}
}

// Whatever is said: spans are in order, do not overlap, are never too long, and
// hold every window that is surely speech and has speech around it.
func TestMode_Rapid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom([]mode{liveMode, recordedMode}).Draw(t, "mode")
		g := utterance.NewCutter(m.rules)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		if m.live {
			g.Complete = func() bool { return r.IntN(2) == 0 }
		}
		voicedRun, covered := 0, 0
		var solid []int // windows inside a run of speech that is long enough
		check := func(s *utterance.Span) {
			if s == nil {
				return
			}
			if s.Start < covered || s.End <= s.Start || s.End-s.Start > m.rules.Max {
				t.Fatalf("span %d to %d after %d", s.Start, s.End, covered)
			}
			if s.First < s.Start || s.Last > s.End || len(s.Speech) != s.End-s.Start {
				t.Fatalf("span %+v", *s)
			}
			for len(solid) > 0 && solid[0] < s.End {
				if solid[0] < s.Start {
					t.Fatalf("window %d is speech and in no span", solid[0])
				}
				solid = solid[1:]
			}
			covered = s.End
		}
		for i := 0; i < 3000; {
			p := float32(r.Float64())
			for range 1 + r.IntN(40) {
				if p >= utterance.SpeechProb {
					voicedRun++
				} else {
					voicedRun = 0
				}
				if voicedRun == utterance.MinSpeech {
					for j := range utterance.MinSpeech {
						solid = append(solid, i-utterance.MinSpeech+1+j)
					}
				} else if voicedRun > utterance.MinSpeech {
					solid = append(solid, i)
				}
				check(g.Push(p, float64(p)).Ended)
				i++
			}
		}
		check(g.End())
		if len(solid) > 0 {
			t.Fatalf("%d windows of speech are in no span", len(solid))
		}
	})
}
