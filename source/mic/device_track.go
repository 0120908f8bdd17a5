package mic

import (
	"math"

	"github.com/hearken-dev/hearken"
)

// All times are positions on the session's clock: samples since it started.
const (
	millisecond = hearken.SampleRate / 1000

	tolerance    = 10 * millisecond        // a track this close is on time
	maxDrift     = 100 * millisecond       // a track further off is corrected at once
	window       = 15 * hearken.SampleRate // how long to observe before deciding that a track is late
	firstWindow  = 300 * millisecond       // the same for a track that has just started
	correctEvery = 5 * millisecond         // drop or double at most one sample in this many
	maxBuffered  = 30 * hearken.SampleRate // buffer limit if nobody reads
	noMeasure    = math.MinInt64 / 2       // below every real value
)

// A deviceTrack aligns one device's audio with the session's clock.
//
// Audio is placed at the time it arrived. A busy computer delivers late, but
// never early. So one block that arrives early shows that the device's clock is
// fast. Only the earliest block of many seconds shows that the clock is slow, or
// that audio was lost. Drift is corrected by dropping or doubling one sample in
// 5 ms where the wave is flattest, which is inaudible. Only an offset of more
// than 100 ms is cut, or filled with silence.
type deviceTrack struct {
	buf   []int16
	start int64 // position of buf[0], or of the next sample
	live  bool  // audio is arriving: worth waiting for
	last  int64 // when audio last arrived

	fresh       bool  // just started: may be corrected at once
	bestLead    int64 // the most by which audio of this window was ahead of the clock
	windowEnd   int64 // end of the window
	lateWindows int   // consecutive windows in which much was missing
	drift       int64 // samples to add, or if negative to drop
	lost        int64 // samples dropped because nobody read them
}

// end is the position after the last sample.
func (l *deviceTrack) end() int64 { return l.start + int64(len(l.buf)) }

// add takes audio that arrived at the given position.
func (l *deviceTrack) add(samples []int16, at int64) {
	if len(samples) == 0 {
		return
	}
	if !l.live {
		l.begin(at-int64(len(samples)), at)
	}
	l.last = at
	l.write(samples)
	switch ahead := l.end() - at; {
	case ahead > maxDrift:
		// A burst, after silence was delivered in its place: keep the newest.
		l.cut(ahead)
	case ahead > tolerance && !l.fresh:
		l.drift = -ahead
	}
	l.bestLead = max(l.bestLead, l.end()-at)
	if at >= l.windowEnd {
		l.correct(at)
	}
	if over := len(l.buf) - maxBuffered; over > 0 {
		l.lost += int64(over)
		l.start += int64(over)
		l.buf = l.buf[:copy(l.buf, l.buf[over:])]
	}
}

// cut drops the oldest samples, which moves the others earlier.
func (l *deviceTrack) cut(n int64) {
	n = min(max(n, 0), int64(len(l.buf)))
	l.buf = l.buf[:copy(l.buf, l.buf[n:])]
}

// begin starts the track again at the given position.
func (l *deviceTrack) begin(pos, at int64) {
	if len(l.buf) == 0 {
		l.start = max(l.start, pos)
	} else if gap := pos - l.end(); gap > 0 {
		l.buf = append(l.buf, make([]int16, gap)...)
	}
	l.live, l.fresh, l.lateWindows = true, true, 0
	l.bestLead, l.drift, l.windowEnd = noMeasure, 0, at+firstWindow
}

// correct adjusts the track after a window.
func (l *deviceTrack) correct(at int64) {
	late := -l.bestLead
	switch {
	case l.fresh: // the first block was late by this much
		l.cut(-late)
	case late > maxDrift:
		if l.lateWindows++; l.lateWindows > 1 { // not late, but lost
			l.buf = append(l.buf, make([]int16, late)...)
			l.lateWindows = 0
		}
	case late > tolerance:
		l.drift = late
		l.lateWindows = 0
	default:
		l.lateWindows = 0
	}
	l.fresh, l.bestLead, l.windowEnd = false, noMeasure, at+window
}

// write appends samples and corrects as much of the drift as stays inaudible.
func (l *deviceTrack) write(samples []int16) {
	for l.drift != 0 && len(samples) >= correctEvery {
		i := flattest(samples[:correctEvery])
		l.buf = append(l.buf, samples[:i]...)
		if l.drift > 0 {
			l.buf = append(l.buf, samples[i], samples[i])
			l.drift--
			l.bestLead++
		} else {
			l.drift++
			l.bestLead--
		}
		l.buf = append(l.buf, samples[i+1:correctEvery]...)
		samples = samples[correctEvery:]
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

// take fills dst with the audio from pos, silent where there is none, and
// discards what came before its end.
func (l *deviceTrack) take(dst []int16, pos int64) {
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
