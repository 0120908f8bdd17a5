package moonshine

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// talk is a run of windows that are all speech or all not.
type talk struct {
	windows int
	prob    float32
}

type cutSpan struct{ Start, End, First, Last int }

func segments(talks []talk) (spans []cutSpan, began int) {
	g := newSegmenter(live)
	g.enough = func() bool { return true }
	return cutBy(g, talks)
}

func cutBy(g *segmenter, talks []talk) (spans []cutSpan, began int) {
	keep := func(s *span) {
		if s != nil {
			spans = append(spans, cutSpan{s.start, s.end, s.first, s.last})
		}
	}
	for _, t := range talks {
		for range t.windows {
			c := g.push(t.prob, t.prob)
			if c.began {
				began++
			}
			keep(c.ended)
		}
	}
	keep(g.flush())
	return spans, began
}

func TestSegmenter(t *testing.T) {
	for _, tt := range []struct {
		name  string
		talks []talk
		want  []cutSpan
	}{
		{"Silence", []talk{{100, 0}}, nil},
		{"Click", []talk{{30, 0}, {4, 0.9}, {60, 0}}, nil},
		{"OneWord", []talk{{30, 0}, {20, 0.9}, {60, 0}}, []cutSpan{{30 - preRoll, 50 + live.tail, 30, 50}}},
		{"FromTheFirstSample", []talk{{20, 0.9}, {60, 0}}, []cutSpan{{0, 20 + live.tail, 0, 20}}},
		{"ShortPauseIsOneSegment", []talk{{30, 0}, {20, 0.9}, {live.hangover - 1, 0}, {20, 0.9}, {60, 0}},
			[]cutSpan{{30 - preRoll, 69 + live.hangover + live.tail, 30, 69 + live.hangover}}},
		{"LongPauseIsTwo", []talk{{30, 0}, {20, 0.9}, {live.hangover, 0}, {20, 0.9}, {60, 0}},
			[]cutSpan{{30 - preRoll, 50 + live.tail, 30, 50}, {50 + live.tail, 70 + live.hangover + live.tail, 50 + live.hangover, 70 + live.hangover}}},
		{"EndOfWordIsKept", []talk{{30, 0}, {20, 0.9}, {3, 0.4}, {60, 0}}, []cutSpan{{30 - preRoll, 53 + live.tail, 30, 53}}},
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

func TestSegmenter_CutsAtTheQuietestPlace(t *testing.T) {
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
func TestSegmenter_WholeCutsInTheLongestPause(t *testing.T) {
	sentence := frames(5_000)
	short, long := talk{frames(500), 0}, talk{frames(1_000), 0}
	said := talk{sentence, 0.9}
	got, _ := cutBy(newSegmenter(whole), []talk{said, short, said, long, said, short, said, {frames(3_000), 0}})
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

func TestSegmenter_GuessIsTheFinal(t *testing.T) {
	g := newSegmenter(live)
	g.enough = func() bool { return true }
	var guess, final *span
	for i := range 80 {
		p := float32(0)
		if i < 30 {
			p = 0.9
		}
		c := g.push(p, p)
		if c.paused != nil {
			guess = c.paused
		}
		if c.ended != nil {
			final = c.ended
		}
	}
	if diff := cmp.Diff(guess, final, cmp.AllowUnexported(span{})); diff != "" {
		t.Error(diff)
	}
}

// What cannot stand alone gets more time, once.
func TestSegmenter_Waits(t *testing.T) {
	for _, tt := range []struct {
		name   string
		pause  int
		enough bool
		spans  int
	}{{"Enough", live.hangover + 2, true, 2}, {"NotEnough", live.hangover + 2, false, 1}, {"NotEnoughForLong", live.patience + 2, false, 2}} {
		t.Run(tt.name, func(t *testing.T) {
			g := newSegmenter(live)
			asked := 0
			g.enough = func() bool { asked++; return tt.enough }
			spans := 0
			for i := range 20 + tt.pause + 20 {
				p := float32(0.9)
				if i >= 20 && i < 20+tt.pause {
					p = 0
				}
				if g.push(p, p).ended != nil {
					spans++
				}
			}
			if g.flush() != nil {
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
func TestSegmenter_Rapid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := newSegmenter(rapid.SampledFrom([]pace{live, whole}).Draw(t, "pace"))
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		if g.pace.hurry {
			g.enough = func() bool { return r.IntN(2) == 0 }
		}
		voicedRun, covered, memory := 0, 0, 0
		var solid []int // windows inside a run of speech that is long enough
		check := func(s *span) {
			if s == nil {
				return
			}
			if s.start < covered || s.end <= s.start || s.end-s.start > g.pace.maxSegment {
				t.Fatalf("span %d to %d after %d", s.start, s.end, covered)
			}
			if s.first < s.start || s.last > s.end || len(s.probs) != s.end-s.start {
				t.Fatalf("span %+v", *s)
			}
			for len(solid) > 0 && solid[0] < s.end {
				if solid[0] < s.start {
					t.Fatalf("window %d is speech and in no span", solid[0])
				}
				solid = solid[1:]
			}
			covered = s.end
		}
		for i := 0; i < 3000; {
			p := float32(r.Float64())
			for range 1 + r.IntN(40) {
				if p >= onThreshold {
					voicedRun++
				} else {
					voicedRun = 0
				}
				if voicedRun == minSpeech {
					for j := range minSpeech {
						solid = append(solid, i-minSpeech+1+j)
					}
				} else if voicedRun > minSpeech {
					solid = append(solid, i)
				}
				check(g.push(p, p).ended)
				memory = max(memory, len(g.probs))
				i++
			}
		}
		check(g.flush())
		if len(solid) > 0 {
			t.Fatalf("%d windows of speech are in no span", len(solid))
		}
		if memory > 2*g.pace.maxSegment {
			t.Fatalf("the segmenter remembers %d windows", memory)
		}
	})
}
