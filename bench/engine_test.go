package main

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/test/wer"
)

func TestFindCapacity(t *testing.T) {
	for _, tt := range []struct{ carries, want int }{
		{0, 0}, {1, 1}, {5, 5}, {11, 11}, {13, 13}, {14, 14}, {15, 14}, {16, 16}, {21, 20}, {30, 30},
	} {
		best := findCapacity(14, func(n int) *streamLoad {
			l := &streamLoad{streams: n, lags: durations{0}}
			if n > tt.carries {
				l.lags = durations{2 * time.Second}
			}
			return l
		})
		if best.streams != tt.want {
			t.Errorf("of %d streams that are carried %d were found", tt.carries, best.streams)
		}
	}
}

func TestCalibration(t *testing.T) {
	var right, sure []opinion
	for i := range 20 {
		x := float64(i) / 20
		right = append(right, opinion{confidence: x, accuracy: x, words: 5})
		sure = append(sure, opinion{confidence: 1, accuracy: 0.75, words: 5})
	}
	if d, words := calibration(right); d > 1e-9 || words != 100 {
		t.Errorf("right confidence is %v off in %d words", d, words)
	}
	if d, _ := calibration(sure); math.Abs(d-0.25) > 1e-9 {
		t.Errorf("confidence that is 0.25 too high is %v off", d)
	}
}

func TestOpinionsOf(t *testing.T) {
	half := 0.5
	got := opinionsOf("one two three four five six", []hearken.Segment{
		{Text: "one too three for", Confidence: &half}, {Status: hearken.NoSpeech}, {Text: "five six", Confidence: &half},
	})
	want := []opinion{{0.5, 0.5, 4}, {0.5, 1, 2}}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(opinion{})); d != "" {
		t.Error(d)
	}
}

func TestBootstrap(t *testing.T) {
	var worse, better []wer.Score
	for i := range 50 {
		worse = append(worse, wer.Score{Errors: 2 + i%2, Words: 10})
		better = append(better, wer.Score{Errors: 1 + i%2, Words: 10})
	}
	if low, high := bootstrap(worse, better); math.Abs(low-10) > 1e-9 || math.Abs(high-10) > 1e-9 {
		t.Errorf("ten points more in each are %v to %v", low, high)
	}
	if low, high := bootstrap(worse[:1], better[:1]); low > high {
		t.Errorf("%v to %v", low, high)
	}
}
