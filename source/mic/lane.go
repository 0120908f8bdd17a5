package mic

import (
	"math"

	"github.com/hearken-dev/hearken"
)

// All times of the desk are positions on the session's clock: samples at
// [hearken.SampleRate] since it was started.
const (
	millisecond = hearken.SampleRate / 1000

	tolerance = 10 * millisecond        // off by so little, a lane is right
	jump      = 100 * millisecond       // off by more, it is set right at once
	window    = 15 * hearken.SampleRate // how long sound may be late before it is thought to be so
	first     = 300 * millisecond       // the same for sound that has just begun
	piece     = 5 * millisecond         // one sample in so many is taken out or put in
	most      = 30 * hearken.SampleRate // is kept for a reader that does not take it
	unknown   = math.MinInt64 / 2       // below every real value, and safe to count with
)

// A lane lays the sound of one device on the session's clock.
//
// Sound belongs to the moment at which it arrived. Arrivals are late by what
// the computer was busy with, which may last, but none is early. So a single
// one that comes before its time says that the device's clock is fast, while
// only the best of many seconds says that it is slow, or that something was
// lost. Either is followed by taking out or doubling one sample in 5 ms where
// the wave is flattest, which nobody and no engine hears. Only what is off by
// more than 100 ms is cut, or filled with silence.
type lane struct {
	buf   []int16
	start int64 // position of buf[0], or of what is to come
	live  bool  // sound comes: worth waiting for
	last  int64 // when sound came last

	fresh  bool  // it has begun just now, and may be set right at once
	best   int64 // how far the sound of this window was ahead of its arrival, at most
	settle int64 // when the window ends
	behind int   // windows in a row in which much was missing
	debt   int64 // samples to put in, or if negative to take out
	lost   int64 // samples thrown away because nobody took them
}

// end is the position of the next sample to come.
func (l *lane) end() int64 { return l.start + int64(len(l.buf)) }

// add takes sound that arrived at the given position.
func (l *lane) add(samples []int16, at int64) {
	if len(samples) == 0 {
		return
	}
	if !l.live {
		l.begin(at-int64(len(samples)), at)
	}
	l.last = at
	l.write(samples)
	switch ahead := l.end() - at; {
	case ahead > jump:
		// It came in a burst, after silence had been put in its place. The
		// newest is kept.
		l.cut(ahead)
	case ahead > tolerance && !l.fresh:
		l.debt = -ahead
	}
	l.best = max(l.best, l.end()-at)
	if at >= l.settle {
		l.correct(at)
	}
	if over := len(l.buf) - most; over > 0 {
		l.lost += int64(over)
		l.start += int64(over)
		l.buf = l.buf[:copy(l.buf, l.buf[over:])]
	}
}

// cut takes the oldest samples out, so that the others come earlier.
func (l *lane) cut(n int64) {
	n = min(max(n, 0), int64(len(l.buf)))
	l.buf = l.buf[:copy(l.buf, l.buf[n:])]
}

// begin says that sound comes again, the first of it at the given position.
func (l *lane) begin(pos, at int64) {
	if len(l.buf) == 0 {
		l.start = max(l.start, pos)
	} else if gap := pos - l.end(); gap > 0 {
		l.buf = append(l.buf, make([]int16, gap)...)
	}
	l.live, l.fresh, l.behind = true, true, 0
	l.best, l.debt, l.settle = unknown, 0, at+first
}

// correct looks back on a window and sets the lane right.
func (l *lane) correct(at int64) {
	late := -l.best
	switch {
	case l.fresh: // the very first arrival was late by this
		l.cut(-late)
	case late > jump:
		if l.behind++; l.behind > 1 { // not late, but lost on the way
			l.buf = append(l.buf, make([]int16, late)...)
			l.behind = 0
		}
	case late > tolerance:
		l.debt = late
		l.behind = 0
	default:
		l.behind = 0
	}
	l.fresh, l.best, l.settle = false, unknown, at+window
}

// write appends samples, and pays of the debt what can be paid unheard.
func (l *lane) write(samples []int16) {
	for l.debt != 0 && len(samples) >= piece {
		i := flattest(samples[:piece])
		l.buf = append(l.buf, samples[:i]...)
		if l.debt > 0 {
			l.buf = append(l.buf, samples[i], samples[i])
			l.debt--
			l.best++
		} else {
			l.debt++
			l.best--
		}
		l.buf = append(l.buf, samples[i+1:piece]...)
		samples = samples[piece:]
	}
	l.buf = append(l.buf, samples...)
}

// flattest is the index of the sample that differs least from its neighbours.
func flattest(samples []int16) int {
	at, least := 1, int32(math.MaxInt32)
	for i := 1; i < len(samples)-1; i++ {
		before, here, after := int32(samples[i-1]), int32(samples[i]), int32(samples[i+1])
		if d := abs(here-before) + abs(after-here); d < least {
			at, least = i, d
		}
	}
	return at
}

func abs(v int32) int32 { return max(v, -v) }

// take fills dst with the sound from pos on, and with silence where there is
// none, and forgets what lies before its end.
func (l *lane) take(dst []int16, pos int64) {
	clear(dst)
	end := pos + int64(len(dst))
	if from, to := max(pos, l.start), min(end, l.end()); from < to {
		copy(dst[from-pos:], l.buf[from-l.start:to-l.start])
	}
	if done := min(max(0, end-l.start), int64(len(l.buf))); done > 0 {
		l.buf = l.buf[:copy(l.buf, l.buf[done:])]
		l.start += done
	}
	if len(l.buf) == 0 {
		l.start = max(l.start, end)
	}
}
