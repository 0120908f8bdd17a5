package mic

import (
	"math"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
)

const (
	tick  = 100 * time.Millisecond
	block = 100 * millisecond  // is delivered at least,
	large = 500 * millisecond  // and at most, after a pause
	lag   = 40 * millisecond   // how far behind the clock sound is delivered
	hold  = hearken.SampleRate // how long a device that was heard is waited for
)

// A desk brings the lanes together: at each moment it knows how much sound
// there has to be, whatever the devices do, and gives all lanes that much.
type desk struct {
	began time.Time

	mu        sync.Mutex
	lanes     []*lane
	delivered int64
	out       [][]int16
	recent    [][]int16 // the last 100 ms of each lane
}

// newDesk starts a session's clock.
func newDesk(lanes int) *desk {
	d := &desk{began: time.Now()}
	for range lanes {
		d.lanes = append(d.lanes, &lane{})
		d.out = append(d.out, make([]int16, large))
		d.recent = append(d.recent, make([]int16, 100*millisecond))
	}
	return d
}

// now is the position of this moment.
func (d *desk) now() int64 {
	return time.Since(d.began).Microseconds() * millisecond / 1000
}

// add takes sound of a lane that has arrived just now.
func (d *desk) add(lane int, samples []int16) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lanes[lane].add(samples, d.now())
}

// gone says that nothing more comes on a lane for now: it is silence from here
// on, without waiting.
func (d *desk) gone(lane int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lanes[lane].live = false
}

// next is the next block of all lanes, valid until the following call, or nil
// if it is not yet time for one.
func (d *desk) next() [][]int16 {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	upTo := now - lag
	for _, l := range d.lanes {
		switch {
		case !l.live || l.end() >= upTo:
		case now-l.last < hold:
			upTo = l.end()
		default:
			l.live = false
		}
	}
	if upTo-d.delivered < block {
		return nil
	}
	return d.takeTo(upTo)
}

// rest is like next, for the end: it waits for nothing.
func (d *desk) rest() [][]int16 {
	d.mu.Lock()
	defer d.mu.Unlock()
	upTo := d.delivered
	for _, l := range d.lanes {
		upTo = max(upTo, l.end())
	}
	if upTo = min(upTo, d.now()); upTo == d.delivered {
		return nil
	}
	return d.takeTo(upTo)
}

func (d *desk) takeTo(upTo int64) [][]int16 {
	n := min(upTo-d.delivered, large)
	for i, l := range d.lanes {
		d.out[i] = d.out[i][:n]
		l.take(d.out[i], d.delivered)
		recent := d.recent[i]
		if n < int64(len(recent)) {
			copy(recent, recent[n:])
			copy(recent[int64(len(recent))-n:], d.out[i])
		} else {
			copy(recent, d.out[i][n-int64(len(recent)):])
		}
	}
	d.delivered += n
	return d.out
}

// quietest is the level, in dB below full scale, that shows as 0.
const quietest = 60

// levels are how loud the last 100 ms of each lane were: 1 is full scale, 0 is
// 60 dB below that, and speech is in the upper half.
func (d *desk) levels() []float64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	levels := make([]float64, len(d.recent))
	for i, r := range d.recent {
		levels[i] = math.Min(1, math.Max(0, 1+audio.Measure(r).RMS/quietest))
	}
	return levels
}

// lost is how much sound was thrown away because nobody took it.
func (d *desk) lost() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	var most int64
	for _, l := range d.lanes {
		most = max(most, l.lost)
	}
	return time.Duration(most) * time.Second / hearken.SampleRate
}
