package live

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/hearken-dev/hearken"
)

// patience is how long an engine is asked again at least where there is no
// other: outages of some seconds are common, the spool holds minutes, and a
// session that ends for one helps nobody.
const patience = time.Minute

// patienceWithBusy is the same for one that has no room: it has some again when
// others are done.
const patienceWithBusy = 5 * time.Minute

// worthRetrying tells whether the same engine should be asked again.
func (c *channel) worthRetrying(err error, failures int, since time.Time) bool {
	switch spent := failures > c.s.hub.cfg.Retries; {
	case !retryable(err):
		return false
	case c.s.hasNext():
		// Nor is there time for it when only the last words are missing.
		return !spent && !c.late.Load() && !c.finish.Load() && advice(err) <= patienceWithNext
	default:
		wait := patience
		if hearken.CodeOf(err) == hearken.Busy {
			wait = patienceWithBusy
		}
		return !spent || time.Since(since) < wait
	}
}

// giveUp ends the session for want of an engine.
func (c *channel) giveUp(ctx context.Context, engine string, err error) {
	if ctx.Err() != nil {
		return
	}
	c.setState(stateFailed, nil)
	from, to := c.through.Load(), c.spool.end()
	c.s.note(hearken.EventDelay, seconds(from), seconds(to), "[%s failed: %s %.1f s of audio is waiting to be transcribed]", engine, reason(err), seconds(to-from))
	c.s.tell(hearken.InputEvent{Kind: hearken.InputError, Err: err})
	_ = c.s.hub.finish(c.s, hearken.StopProviderFailed) // it fails if the session or the hub ends already
}

// retryable tells whether opening the same engine again could help.
func retryable(err error) bool {
	switch hearken.CodeOf(err) {
	case hearken.APIKeyMissing, hearken.ProviderNotConfigured, hearken.Unauthorized, hearken.Forbidden:
		return false
	}
	return true
}

// backoff is 1 s, 2 s, and 4 s from then on: who was away for a while should
// not be left alone for longer.
func backoff(failures int) time.Duration {
	return jitter(time.Second << min(failures-1, 2))
}

// jitter is d, give or take a fifth.
func jitter(d time.Duration) time.Duration {
	return d + time.Duration((rand.Float64()-0.5)*0.4*float64(d))
}

// advice is how long a provider asks to be left alone, within reason.
func advice(err error) time.Duration {
	var asks interface{ RetryAfter() time.Duration }
	if !errors.As(err, &asks) {
		return 0
	}
	return min(asks.RetryAfter(), time.Minute)
}

// pause waits and tells whether it could.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
