package audio

import "math"

// Silence is the level of digital silence, in dBFS: below what 16 bits hold.
const Silence = -96.0

// Level returns the RMS level of samples in dBFS.
func Level(samples []int16) float64 {
	var sum int64
	for _, s := range samples {
		sum += int64(s) * int64(s)
	}
	if sum == 0 {
		return Silence
	}
	return max(Silence, 20*math.Log10(math.Sqrt(float64(sum)/float64(len(samples)))/32768))
}
