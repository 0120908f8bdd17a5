package main

import (
	"fmt"
	"slices"
	"time"
)

// A sample is a set of durations.
type sample []time.Duration

// at is the given quantile.
func (s sample) at(q float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// median is the middle one of the rounds.
func median(rounds []float64) float64 {
	sorted := slices.Sorted(slices.Values(rounds))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[len(sorted)/2]
}

// spread is the lowest and the highest of the rounds.
func spread(rounds []float64) string {
	return fmt.Sprintf("%s to %s in %d rounds", number(slices.Min(rounds), ""), number(slices.Max(rounds), ""), len(rounds))
}
