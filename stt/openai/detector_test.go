package openai

import (
	"math/rand/v2"
	"testing"

	"github.com/hearken-dev/hearken/stt/utterance"
	"github.com/hearken-dev/hearken/test/speech"
)

// cutLevel cuts sound by its level alone.
func cutLevel(t *testing.T, pcm []float32) []*utterance.Span {
	t.Helper()
	d, c := newLevelDetector(), utterance.NewCutter(cuttingRules(0))
	var spans []*utterance.Span
	for len(pcm) >= window {
		prob, err := d.Feed(pcm[:window])
		if err != nil || prob < 0 || prob > 1 {
			t.Fatalf("probability %f: %v", prob, err)
		}
		if s := c.Push(prob, loudness(pcm[:window])/20).Ended; s != nil {
			spans = append(spans, s)
		}
		pcm = pcm[window:]
	}
	if s := c.End(); s != nil {
		spans = append(spans, s)
	}
	return spans
}

// What goes on evenly is no speech after a while; what rises above it is.
func TestLevelDetector(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	noise := func(seconds int, loud float32) []float32 {
		pcm := make([]float32, seconds*16000)
		for i := range pcm {
			pcm[i] = (2*r.Float32() - 1) * loud
		}
		return pcm
	}
	constant := make([]float32, 10*16000)
	for i := range constant {
		constant[i] = 0.5
	}
	for name, c := range map[string]struct {
		pcm  []float32
		want int
	}{
		"Silence": {make([]float32, 20*16000), 0},
		"Offset":  {constant, 0},
		"Quiet":   {noise(20, 0.001), 0},
		"Fan":     {noise(60, 0.1), 1}, // at first it may be a voice
		"OverFan": {append(append(noise(60, 0.05), noise(2, 0.3)...), noise(5, 0.05)...), 2},
		"AtOnce":  {append(noise(2, 0.1), make([]float32, 16000)...), 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := len(cutLevel(t, c.pcm)); got != c.want {
				t.Errorf("%d utterances, want %d", got, c.want)
			}
		})
	}
}

// In every recording of somebody who reads there is an utterance, and in that
// of silence there is none.
func TestLevelDetector_Recordings(t *testing.T) {
	heard := 0
	for _, c := range speech.All(t) {
		if c.Kind != "read" && c.Kind != "silence" {
			continue
		}
		heard++
		if n := len(cutLevel(t, c.Floats())); (n > 0) != (c.Kind == "read") {
			t.Errorf("%d utterances in %s", n, c.File())
		}
	}
	if heard == 0 {
		t.Error("no recording was heard")
	}
}
