package audio

import "math"

// Silence is the level of digital silence, in dBFS: below what 16 bits hold.
const Silence = -96.0

// A Level is how loud audio is, in dB relative to full scale.
type Level struct {
	RMS  float64
	Peak float64
}

// Measure returns the level of samples.
func Measure(samples []int16) Level {
	var sum int64
	var peak int32
	for _, s := range samples {
		v := int32(s)
		sum += int64(v * v)
		peak = max(peak, v, -v)
	}
	if peak == 0 {
		return Level{RMS: Silence, Peak: Silence}
	}
	return Level{
		RMS:  decibels(math.Sqrt(float64(sum) / float64(len(samples)))),
		Peak: decibels(float64(peak)),
	}
}

func decibels(amplitude float64) float64 {
	return max(Silence, 20*math.Log10(amplitude/32768))
}
