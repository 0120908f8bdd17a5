package moonshine

import "math"

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

// rmsAndPeak is the root mean square of a window, and its largest value.
func rmsAndPeak(pcm []float32) (rms, peak float32) {
	var sum float64
	for _, s := range pcm {
		sum += float64(s) * float64(s)
		peak = max(peak, float32(math.Abs(float64(s))))
	}
	return float32(math.Sqrt(sum / float64(max(len(pcm), 1)))), peak
}
