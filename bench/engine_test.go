package main

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/test/speech"
)

func TestClimb(t *testing.T) {
	for _, tt := range []struct{ carries, want int }{
		{0, 0}, {1, 1}, {5, 5}, {11, 11}, {13, 13}, {14, 14}, {15, 14}, {16, 16}, {21, 20}, {30, 30},
	} {
		c, err := climb(context.Background(), 14, func(n int) (*carried, error) {
			c := &carried{streams: n, lags: sample{0}}
			if n > tt.carries {
				c.lags = sample{2 * time.Second}
			}
			return c, nil
		})
		if err != nil || c.streams != tt.want {
			t.Errorf("of %d streams that are carried %d were found: %v", tt.carries, c.streams, err)
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

func TestTape_Texts(t *testing.T) {
	a, b := &clip{Clip: speech.Clip{Path: "a"}, pcm: make([]int16, samples(1))}, &clip{Clip: speech.Clip{Path: "b"}, pcm: make([]int16, samples(3))}
	tape := splice([]*clip{a, b}, 2) // a from 2 to 3, b from 5 to 8
	got := tape.texts([]hearken.Segment{
		{StartTime: 1.8, EndTime: 3.3, Text: "first"},
		{StartTime: 4.9, EndTime: 6, Text: "second"},
		{StartTime: 6.5, EndTime: 8.4, Text: "third"},
		{StartTime: 8.5, EndTime: 9, Status: hearken.NoSpeech, Text: "noise"},
	})
	if d := cmp.Diff(map[string]string{"a": "first", "b": "second third"}, map[string]string{"a": got[a], "b": got[b]}); d != "" {
		t.Error(d)
	}
}

func TestBootstrap(t *testing.T) {
	var worse, better []score
	for i := range 50 {
		worse = append(worse, score{errors: 2 + i%2, words: 10})
		better = append(better, score{errors: 1 + i%2, words: 10})
	}
	if low, high := bootstrap(worse, better); math.Abs(low-10) > 1e-9 || math.Abs(high-10) > 1e-9 {
		t.Errorf("ten points more in each are %v to %v", low, high)
	}
	if low, high := bootstrap(worse[:1], better[:1]); low > high {
		t.Errorf("%v to %v", low, high)
	}
}
