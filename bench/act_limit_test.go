package main

import (
	"testing"
	"time"
)

// TestFlood_Windows counts where it is known what comes out.
func TestFlood_Windows(t *testing.T) {
	const latency = 5 * time.Millisecond
	for _, tt := range []struct {
		name         string
		first, again int           // let through at once, at the begin and later
		after        time.Duration // when later
		most, fewest int
	}{
		{"Exact", 100, 100, time.Minute + latency, 100, 100},
		{"TooSoon", 100, 100, 59 * time.Second, 200, 100},
		{"TooMany", 101, 100, time.Minute + latency, 101, 100},
		{"TooFew", 100, 99, time.Minute + latency, 100, 99},
		{"TooLate", 100, 100, 61 * time.Second, 100, 0},
	} {
		f := &flood{slowest: latency}
		let := func(n int, at time.Duration) {
			for i := range n {
				sent := at + time.Duration(i)*time.Microsecond
				f.sent, f.answered = append(f.sent, sent), append(f.answered, sent+latency)
			}
		}
		let(tt.first, 0)
		let(tt.again, tt.after)
		for at := time.Duration(0); at < 70*time.Second; at += latency {
			f.asking = append(f.asking, at)
		}
		if most, fewest, slack := f.windows(time.Minute); most != tt.most || fewest != tt.fewest {
			t.Errorf("%s: %d to %d with slack %s, want %d to %d", tt.name, fewest, most, slack, tt.fewest, tt.most)
		}
	}
}
