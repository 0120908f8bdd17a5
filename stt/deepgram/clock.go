package deepgram

import (
	"math"
	"time"

	"github.com/hearken-dev/hearken"
)

// A clock maps the time of a connection, which counts only the audio that was
// sent, to the session's clock, where audio may be missing in between.
type clock struct {
	pieces []piece // in order, without holes in the connection's time; never empty
}

// A piece is a run of audio that was sent without a gap.
type piece struct {
	sent    int64 // samples that were sent before
	pos     int64 // position of its first sample
	samples int64
	padding bool // silence that is not part of the session and takes no time
}

func newClock(start int64) clock { return clock{pieces: []piece{{pos: start}}} }

func (c *clock) last() *piece { return &c.pieces[len(c.pieces)-1] }

// sent is how many samples were sent.
func (c *clock) sent() int64 { return c.last().sent + c.last().samples }

// pos is the position after the last sample that was sent.
func (c *clock) pos() int64 { return c.last().end() }

func (p *piece) end() int64 {
	if p.padding {
		return p.pos
	}
	return p.pos + p.samples
}

// add notes that samples were sent.
func (c *clock) add(samples int64) { c.last().samples += samples }

// jump notes that the next sample has another position.
func (c *clock) jump(pos int64) {
	c.pieces = append(c.pieces, piece{sent: c.sent(), pos: pos})
}

// pad notes that samples of silence were sent that are not part of the session.
func (c *clock) pad(samples int64) {
	pos := c.pos()
	c.pieces = append(c.pieces, piece{sent: c.sent(), pos: pos, samples: samples, padding: true})
	c.jump(pos)
}

// at is the index of the piece that holds a moment of the connection. A moment
// between two pieces is the end of the earlier one.
func (c *clock) at(seconds float64) int {
	n := samples(seconds)
	for i := range c.pieces {
		if n <= c.pieces[i].sent+c.pieces[i].samples {
			return i
		}
	}
	return len(c.pieces) - 1
}

// in is the position of a moment of the connection, limited to a piece.
func (c *clock) in(i int, seconds float64) int64 {
	p := &c.pieces[i]
	return min(p.pos+max(0, samples(seconds)-p.sent), p.end())
}

// position is the position of a moment of the connection.
func (c *clock) position(seconds float64) int64 { return c.in(c.at(seconds), seconds) }

// forget drops the pieces that end before a moment.
func (c *clock) forget(seconds float64) {
	n, i := samples(seconds), 0
	for i < len(c.pieces)-1 && c.pieces[i].sent+c.pieces[i].samples < n {
		i++
	}
	c.pieces = c.pieces[i:]
}

// samples is a time as a number of samples, limited because the server may send
// anything.
func samples(seconds float64) int64 {
	const limit = 1 << 40
	return int64(math.Round(min(max(0, seconds*hearken.SampleRate), limit)))
}

// burst is how much audio may be sent at once, so that what a live sender's
// network delayed is not slowed down further.
const burst = 1.0 // seconds

// A pace keeps audio from being sent much faster than real time. The server is
// made for live speech, and a replay at full speed makes it fail.
type pace struct {
	rate    float64 // seconds of audio per second; negative for no limit
	allowed float64 // seconds of audio that may be sent now
	at      time.Time
}

// wait is how long to wait before sending so many samples. It counts them as
// sent.
func (p *pace) wait(samples int, now time.Time) time.Duration {
	if p.rate < 0 {
		return 0
	}
	if p.at.IsZero() {
		p.allowed = burst
	} else {
		p.allowed = min(burst, p.allowed+p.rate*max(0, now.Sub(p.at).Seconds()))
	}
	p.at = now
	p.allowed -= float64(samples) / hearken.SampleRate
	if p.allowed >= 0 {
		return 0
	}
	return time.Duration(-p.allowed / p.rate * float64(time.Second))
}
