package live

import (
	"errors"
	"time"

	"github.com/hearken-dev/hearken"
)

const (
	// behindLimit is how far an engine may be behind before another goes on,
	// unless it is catching up.
	behindLimit = 30 * hearken.SampleRate
	// An engine that settles nothing for quietFor while it is behind, less than
	// half of what was spoken meanwhile in slowFor, or not nearly all of it in
	// lateFor, does not catch up. Finals come many seconds apart, so it takes
	// as long as that to tell.
	quietFor = 20 * time.Second
	slowFor  = 30 * time.Second
	lateFor  = 90 * time.Second
	// silentFor is how long an engine may settle nothing of what waits for it
	// before it is opened anew where there is no other.
	silentFor = 2 * time.Minute
	// rollWithin is how long a change of streams waits for a pause.
	rollWithin = 10 * time.Second
	// rollEarly is how long before its limit a stream begins to look for one.
	rollEarly = time.Minute
)

var (
	// errAbandoned ends a stream that is given up on purpose.
	errAbandoned = errors.New("stream abandoned")
	errBehind    = hearken.Errorf(hearken.ProviderConnectionFailed, "It is more than 30 s behind and does not catch up.")
	errSilent    = hearken.Errorf(hearken.ProviderConnectionFailed, "It has said nothing for two minutes of what it was given.")
)

// A pulse is how far an engine had come at some moment.
type pulse struct {
	at      time.Time
	through int64
}

// rollOver asks for a new stream, in a pause if one comes soon. What is not
// final by then is heard again by the new one, so no word is cut.
func (c *channel) rollOver() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rollBy = c.s.hub.cfg.Now().Add(rollWithin)
}

// expireIn says for how long the open stream may stay open.
func (c *channel) expireIn(d time.Duration) {
	if d > 0 {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.expires = c.s.hub.cfg.Now().Add(max(d-rollEarly, d/2))
	}
}

// watch ends a stream that is too slow, too silent or too old. It is called
// every second.
func (c *channel) watch(now time.Time) {
	next := c.s.hasNext() && c.debt == nil // nobody waits for what is owed
	c.mu.Lock()
	defer c.mu.Unlock()
	skip := c.skip
	if skip == nil {
		skip = func(error) {}
	}
	through := c.through.Load()
	waiting := min(c.spool.end(), c.limit) - through
	if c.skip != nil && !c.expires.IsZero() && now.After(c.expires) && c.rollBy.IsZero() {
		c.rollBy = now.Add(rollEarly / 2)
	}
	took := now.Sub(c.pulse.at)
	settled := seconds(through-c.pulse.through) / took.Seconds()
	switch {
	case !c.rollBy.IsZero() && (waiting < hearken.SampleRate || now.After(c.rollBy)):
		skip(errAbandoned)
	case waiting <= behindLimit && c.debt == nil, waiting <= 0, c.pulse.at.IsZero():
		c.pulse = pulse{now, through}
		c.late.Store(false)
	case next && (took >= quietFor && settled == 0 || took >= slowFor && settled < 0.5 || took >= lateFor && settled < 0.9):
		c.late.Store(true) // also where it fails again and again before it is late
		skip(errBehind)
	case took >= silentFor && settled == 0:
		skip(errSilent)
	case took >= lateFor && settled > 0:
		c.pulse = pulse{now, through}
	}
}
