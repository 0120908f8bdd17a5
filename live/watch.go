package live

import (
	"errors"
	"time"

	"github.com/hearken-dev/hearken"
)

const (
	// maxBehind is how far an engine may be behind before another takes over,
	// unless it is catching up.
	maxBehind = 30 * hearken.SampleRate
	// An engine that is behind does not catch up if nothing becomes final for
	// noProgressFor, less than half of real time in slowAfter, or not nearly
	// real time in lateAfter. Finals come many seconds apart, so it takes that
	// long to know.
	noProgressFor = 20 * time.Second
	slowAfter     = 30 * time.Second
	lateAfter     = 90 * time.Second
	// reopenAfter is how long an engine may make no progress before it is
	// reopened, if there is no other.
	reopenAfter = 2 * time.Minute
	// rollOverWithin is how long a change of streams waits for a pause in
	// speech.
	rollOverWithin = 10 * time.Second
	// rollOverEarly is how long before its limit a stream begins to wait for a
	// pause.
	rollOverEarly = time.Minute
)

var (
	// errAbandoned ends a stream on purpose.
	errAbandoned  = errors.New("stream abandoned")
	errBehind     = hearken.Errorf(hearken.ProviderConnectionFailed, "It is more than 30 s behind and does not catch up.")
	errNoProgress = hearken.Errorf(hearken.ProviderConnectionFailed, "It has returned nothing for two minutes of audio.")
)

// A progressMark is how far an engine was at some time.
type progressMark struct {
	at         time.Time
	finalUntil int64
}

// rollOver asks for a new stream, in a pause if one comes soon. The new stream
// gets everything that is not final, so no word is cut.
func (c *channel) rollOver() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rollOverBy = c.s.hub.cfg.Now().Add(rollOverWithin)
}

// expireIn limits how long the open stream may stay open.
func (c *channel) expireIn(d time.Duration) {
	if d > 0 {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.expires = c.s.hub.cfg.Now().Add(max(d-rollOverEarly, d/2))
	}
}

// watch ends a stream that is too slow, makes no progress or is too old. It is
// called every second.
func (c *channel) watch(now time.Time) {
	next := c.s.hasNextEngine() && c.backlog == nil // nobody waits for the backlog
	c.mu.Lock()
	defer c.mu.Unlock()
	abandon := c.abandon
	if abandon == nil {
		abandon = func(error) {}
	}
	finalUntil := c.finalUntil.Load()
	waiting := min(c.spool.end(), c.limit) - finalUntil
	if c.abandon != nil && !c.expires.IsZero() && now.After(c.expires) && c.rollOverBy.IsZero() {
		c.rollOverBy = now.Add(rollOverEarly / 2)
	}
	took := now.Sub(c.progressMark.at)
	speed := seconds(finalUntil-c.progressMark.finalUntil) / took.Seconds()
	switch {
	case !c.rollOverBy.IsZero() && (waiting < hearken.SampleRate || now.After(c.rollOverBy)):
		abandon(errAbandoned)
	case waiting <= maxBehind && c.backlog == nil, waiting <= 0, c.progressMark.at.IsZero():
		c.progressMark = progressMark{now, finalUntil}
		c.late.Store(false)
	case next && (took >= noProgressFor && speed == 0 || took >= slowAfter && speed < 0.5 || took >= lateAfter && speed < 0.9):
		c.late.Store(true) // also if it keeps failing before it is late
		abandon(errBehind)
	case took >= reopenAfter && speed == 0:
		abandon(errNoProgress)
	case took >= lateAfter && speed > 0:
		c.progressMark = progressMark{now, finalUntil}
	}
}
