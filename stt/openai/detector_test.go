package openai

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken/audio"
)

// cutLevel cuts sound by its level alone.
func cutLevel(t *testing.T, pcm []float32) []*span {
	t.Helper()
	d, c := newLevelDetector(), newCutter(0)
	var spans []*span
	for len(pcm) >= window {
		prob, err := d.Feed(pcm[:window])
		if err != nil || prob < 0 || prob > 1 {
			t.Fatalf("probability %f: %v", prob, err)
		}
		if _, s := c.push(prob, loudness(pcm[:window])); s != nil {
			spans = append(spans, s)
		}
		pcm = pcm[window:]
	}
	if s := c.end(); s != nil {
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
	dir := os.Getenv("HEARKEN_SPEECH")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "speech")
	}
	list, err := os.ReadFile(filepath.Join(dir, "manifest.tsv"))
	if err != nil {
		t.Skip("no recordings; set HEARKEN_SPEECH: ", err)
	}
	heard := 0
	for line := range strings.Lines(string(list)) {
		column := strings.Split(line, "\t")
		if len(column) < 5 || column[4] != "read" && column[4] != "silence" {
			continue
		}
		file, err := os.ReadFile(filepath.Join(dir, column[0]))
		if err != nil {
			t.Error(err)
			continue
		}
		var pcm []float32
		dec, err := audio.NewDecoder(audio.Format{}, func(channels ...[]int16) error {
			for _, x := range channels[0] {
				pcm = append(pcm, float32(x)/32768)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		dec.Write(file)
		dec.Close()
		heard++
		if n := len(cutLevel(t, pcm)); (n > 0) != (column[4] == "read") {
			t.Errorf("%d utterances in %s", n, column[0])
		}
	}
	if heard == 0 {
		t.Error("no recording was heard")
	}
}
