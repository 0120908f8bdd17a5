package main

import (
	"math"
	"slices"

	"github.com/hearken-dev/hearken"
)

// Where speech begins and ends is told by level alone, so that the engine is
// not measured with its own ears: a frame of 10 ms is voiced if it is less than
// 30 dB below the loud frames of its recording and well above the quiet ones.
// Bursts shorter than 50 ms do not count.
const (
	levelFrame = hearken.SampleRate / 100
	burst      = 5   // frames
	stillness  = 100 // frames without voice that make an end or an onset
)

// edges are the positions, in samples, where speech begins after a second
// without and where it ends before a second without.
func (t *tape) edges() (onsets, ends []int) {
	voiced := make([]bool, len(t.pcm)/levelFrame+1)
	for _, p := range t.parts {
		copy(voiced[p.from/levelFrame:], voicedFrames(p.pcm))
	}
	last := -stillness
	for i, v := range voiced {
		if !v {
			continue
		}
		if i-last >= stillness {
			if last >= 0 {
				ends = append(ends, (last+1)*levelFrame)
			}
			onsets = append(onsets, i*levelFrame)
		}
		last = i
	}
	if last >= 0 {
		ends = append(ends, (last+1)*levelFrame)
	}
	return onsets, ends
}

func voicedFrames(pcm []int16) []bool {
	levels := make([]float64, len(pcm)/levelFrame)
	for i := range levels {
		var sum float64
		for _, x := range pcm[i*levelFrame : (i+1)*levelFrame] {
			sum += float64(x) * float64(x)
		}
		levels[i] = 10 * math.Log10(sum/levelFrame+1)
	}
	if len(levels) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(levels))
	loud, low := sorted[len(sorted)*95/100], sorted[len(sorted)/10]
	limit := min(max(loud-30, low+10), loud-15)
	voiced := make([]bool, len(levels))
	run := 0
	for i, l := range levels {
		if l < limit {
			run = 0
			continue
		}
		if run++; run >= burst {
			for j := range burst {
				voiced[i-j] = true
			}
		}
	}
	return voiced
}
