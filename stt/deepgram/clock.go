package deepgram

import (
	"math"
	"time"

	"github.com/hearken-dev/hearken"
)

// A connectionClock maps the time of a connection, which counts only the audio that was
// sent, to the session's clock, where audio may be missing in between.
type connectionClock struct {
	pieces []piece // in order, without holes in the connection's time; never empty
}

// A piece is a run of audio that was sent without a gap.
type piece struct {
	sent    int64 // samples that were sent before
	pos     int64 // position of its first sample
	samples int64
	padding bool // silence that is not part of the session and takes no time
}

func newClock(start int64) connectionClock { return connectionClock{pieces: []piece{{pos: start}}} }

func (c *connectionClock) lastPiece() *piece { return &c.pieces[len(c.pieces)-1] }

func (c *connectionClock) sent() int64 { return c.lastPiece().sent + c.lastPiece().samples }

// endPosition is the position after the last sample that was sent.
func (c *connectionClock) endPosition() int64 { return c.lastPiece().end() }

func (p *piece) end() int64 {
	if p.padding {
		return p.pos
	}
	return p.pos + p.samples
}

// add notes that samples were sent.
func (c *connectionClock) add(samples int64) { c.lastPiece().samples += samples }

// jumpTo notes that the next sample has another position.
func (c *connectionClock) jumpTo(pos int64) {
	c.pieces = append(c.pieces, piece{sent: c.sent(), pos: pos})
}

// addPadding notes that samples of silence were sent that are not part of the session.
func (c *connectionClock) addPadding(samples int64) {
	pos := c.endPosition()
	c.pieces = append(c.pieces, piece{sent: c.sent(), pos: pos, samples: samples, padding: true})
	c.jumpTo(pos)
}

// pieceAt is the index of the piece that holds a moment of the connection. A moment
// between two pieces is the end of the earlier one.
func (c *connectionClock) pieceAt(seconds float64) int {
	n := toSamples(seconds)
	for i := range c.pieces {
		if n <= c.pieces[i].sent+c.pieces[i].samples {
			return i
		}
	}
	return len(c.pieces) - 1
}

// positionIn is the position of a moment of the connection, limited to a piece.
func (c *connectionClock) positionIn(i int, seconds float64) int64 {
	p := &c.pieces[i]
	return min(p.pos+max(0, toSamples(seconds)-p.sent), p.end())
}

// position is the position of a moment of the connection.
func (c *connectionClock) position(seconds float64) int64 {
	return c.positionIn(c.pieceAt(seconds), seconds)
}

// forget drops the pieces that end before a moment.
func (c *connectionClock) forget(seconds float64) {
	n, i := toSamples(seconds), 0
	for i < len(c.pieces)-1 && c.pieces[i].sent+c.pieces[i].samples < n {
		i++
	}
	c.pieces = c.pieces[i:]
}

// toSamples is a time as a number of samples, limited because the server may send
// anything.
func toSamples(seconds float64) int64 {
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

// delay is how long to wait before sending so many samples. It counts them as
// sent.
func (p *pace) delay(samples int, now time.Time) time.Duration {
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
