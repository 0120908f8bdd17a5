package mic

import (
	"math"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
)

const (
	tick        = 100 * time.Millisecond
	minBlock    = 100 * millisecond  // smallest block to deliver
	maxBlock    = 500 * millisecond  // largest block, after a pause
	deliveryLag = 40 * millisecond   // how far behind the clock to deliver
	maxWait     = hearken.SampleRate // how long to wait for a device that was active
)

// A mixer keeps the devices in step: at each moment it knows how much audio
// should have arrived, and takes that much from every track.
type mixer struct {
	began time.Time

	mu        sync.Mutex
	tracks    []*deviceTrack
	delivered int64
	out       [][]int16
	recent    [][]int16 // the last 100 ms of each track
}

// newMixer returns a mixer whose clock starts now.
func newMixer(tracks int) *mixer {
	d := &mixer{began: time.Now()}
	for range tracks {
		d.tracks = append(d.tracks, &deviceTrack{})
		d.out = append(d.out, make([]int16, maxBlock))
		d.recent = append(d.recent, make([]int16, 100*millisecond))
	}
	return d
}

// now is the position of this moment.
func (d *mixer) now() int64 {
	return time.Since(d.began).Microseconds() * millisecond / 1000
}

// add takes audio that has just arrived on a track.
func (d *mixer) add(track int, samples []int16) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tracks[track].add(samples, d.now())
}

// markSilent marks a track as silent: the mixer no longer waits for it.
func (d *mixer) markSilent(track int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tracks[track].live = false
}

// next returns the next block of all tracks, valid until the following call, or
// nil if it is too early.
func (d *mixer) next() [][]int16 {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	upTo := now - deliveryLag
	for _, l := range d.tracks {
		switch {
		case !l.live || l.end() >= upTo:
		case now-l.last < maxWait:
			upTo = l.end()
		default:
			l.live = false
		}
	}
	if upTo-d.delivered < minBlock {
		return nil
	}
	return d.takeUntil(upTo)
}

// remaining returns what is left at the end, without waiting.
func (d *mixer) remaining() [][]int16 {
	d.mu.Lock()
	defer d.mu.Unlock()
	upTo := d.delivered
	for _, l := range d.tracks {
		upTo = max(upTo, l.end())
	}
	if upTo = min(upTo, d.now()); upTo == d.delivered {
		return nil
	}
	return d.takeUntil(upTo)
}

func (d *mixer) takeUntil(upTo int64) [][]int16 {
	n := min(upTo-d.delivered, maxBlock)
	for i, l := range d.tracks {
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

// levels returns how loud the last 100 ms of each track were: 1 is full scale, 0 is
// 60 dB below that, and speech is in the upper half.
func (d *mixer) levels() []float64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	levels := make([]float64, len(d.recent))
	for i, r := range d.recent {
		levels[i] = math.Min(1, math.Max(0, 1+audio.Level(r)/quietest))
	}
	return levels
}

// lost returns how much audio was dropped because nobody read it.
func (d *mixer) lost() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	var most int64
	for _, l := range d.tracks {
		most = max(most, l.lost)
	}
	return time.Duration(most) * time.Second / hearken.SampleRate
}
