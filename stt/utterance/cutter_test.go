package utterance

import (
	"math/rand/v2"
	"testing"
)

var testRules = Rules{PreRoll: 20, Tail: 4, Pause: Windows(700), ClickPause: Windows(380), Max: Windows(12_000), CutWindow: Windows(4_000)}

func TestWindows(t *testing.T) {
	for ms, want := range map[int]int{0: 0, 1: 1, 32: 1, 33: 2, 250: 8, 12_000: 375} {
		if got := Windows(ms); got != want {
			t.Errorf("Windows(%d) = %d, want %d", ms, got, want)
		}
	}
}

// However long a session is and whatever is in it, the cutter remembers little.
func TestCutter_Memory(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for name, prob := range map[string]func(i int) float32{
		"Silence": func(int) float32 { return 0 },
		"Speech":  func(int) float32 { return 0.9 },
		"Random":  func(int) float32 { return r.Float32() },
		"Hum":     func(i int) float32 { return 0.4 + 0.2*float32(max(0, 1-i)) }, // after one window of speech
		"Clicks":  func(i int) float32 { return []float32{0.9, 0.1, 0.4}[i%3] },
	} {
		t.Run(name, func(t *testing.T) {
			c := NewCutter(testRules)
			for i := range 50_000 {
				c.Push(prob(i), 0)
				if n := len(c.probs); n > 2*testRules.Max {
					t.Fatalf("after %d windows it remembers %d", i, n)
				}
			}
		})
	}
}

// Speech that is too short for an utterance is kept by End, because it may be
// the beginning of one, and forgotten by Discard.
func TestCutter_Discard(t *testing.T) {
	c := NewCutter(testRules)
	for range MinSpeech/2 - 1 {
		c.Push(0.9, 0)
	}
	if s := c.End(); s != nil || c.Onset() != 0 {
		t.Errorf("End returned %v, speech began at %d", s, c.Onset())
	}
	if c.Discard(); c.Onset() >= 0 {
		t.Error("a click was not discarded")
	}
	for range MinSpeech {
		c.Push(0.9, 0)
	}
	if c.Discard(); !c.Speaking() {
		t.Error("an utterance was discarded")
	}
}

func TestBuffer(t *testing.T) {
	b := Buffer[int16]{Base: 100}
	b.Append(make([]int16, 40_000)...)
	b.PCM[20_000] = 7
	if b.Forget(1_000); b.Base != 100 {
		t.Errorf("less than a second was moved: %d", b.Base)
	}
	if b.Forget(20_100); b.Base != 20_100 || b.End() != 40_100 {
		t.Errorf("it holds %d to %d", b.Base, b.End())
	}
	if got := b.Copy(20_100, 20_102); len(got) != 2 || got[0] != 7 {
		t.Errorf("copied %v", got)
	}
	if b.Forget(1 << 40); b.Base != 40_100 || len(b.PCM) != 0 {
		t.Errorf("it holds %d samples from %d on", len(b.PCM), b.Base)
	}
}
