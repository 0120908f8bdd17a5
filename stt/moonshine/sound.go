package moonshine

import (
	"math"

	"github.com/hearken-dev/hearken"
)

// A highpass removes a constant offset, which some sound cards add and which
// disturbs both the voice detector and the level. Its corner is at about 4 Hz,
// far below any voice.
type highpass struct {
	x, y  float32
	begun bool
}

func (h *highpass) next(sample int16) float32 {
	const pole = 0.9985
	x := float32(sample) / 32768
	if !h.begun {
		h.begun = true
		h.x = x // begin at rest, not with a step
	}
	h.y = x - h.x + pole*h.y
	h.x = x
	return h.y
}

// A tape holds the sound that may still be needed.
type tape struct {
	base int64 // position of the first sample
	pcm  []float32
}

func (t *tape) end() int64 { return t.base + int64(len(t.pcm)) }

func (t *tape) add(s float32) { t.pcm = append(t.pcm, s) }

// copy returns the sound between two positions.
func (t *tape) copy(from, to int64) []float32 {
	return append([]float32(nil), t.pcm[from-t.base:to-t.base]...)
}

// forget drops the sound before a position, in batches of a second and more
// so that the cost of moving the rest does not matter.
func (t *tape) forget(before int64) {
	drop := min(before, t.end()) - t.base
	if drop < hearken.SampleRate {
		return
	}
	n := copy(t.pcm, t.pcm[drop:])
	t.pcm, t.base = t.pcm[:n], t.base+drop
}

// level is the root mean square of a window, and its largest value.
func level(pcm []float32) (rms, peak float32) {
	var sum float64
	for _, s := range pcm {
		sum += float64(s) * float64(s)
		peak = max(peak, float32(math.Abs(float64(s))))
	}
	return float32(math.Sqrt(sum / float64(max(len(pcm), 1)))), peak
}
