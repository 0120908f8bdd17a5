package live

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/hearken-dev/hearken"
)

// retryFor is the minimum time for which an engine is retried if there is no
// other. Outages of some seconds are common and the spool holds minutes.
const retryFor = time.Minute

// retryBusyFor is the same for an engine that is busy: it recovers when others
// are done.
const retryBusyFor = 5 * time.Minute

// worthRetrying reports whether to try the same engine again.
func (c *channel) worthRetrying(err error, failures int, since time.Time) bool {
	switch spent := failures > c.s.hub.cfg.Retries; {
	case !retryable(err):
		return false
	case c.s.hasNextEngine():
		// There is no time for it if only the last words are missing.
		return !spent && !c.late.Load() && !c.finish.Load() && retryAfter(err) <= maxAdvisedWait
	default:
		wait := retryFor
		if hearken.CodeOf(err) == hearken.Busy {
			wait = retryBusyFor
		}
		return !spent || time.Since(since) < wait
	}
}

// giveUp ends the session because no engine works.
func (c *channel) giveUp(ctx context.Context, engine string, err error) {
	if ctx.Err() != nil {
		return
	}
	c.setState(stateFailed, nil)
	from, to := c.finalUntil.Load(), c.spool.end()
	c.s.addEvent(hearken.EventDelay, seconds(from), seconds(to), "[%s failed: %s %.1f s of audio is waiting to be transcribed]", engine, reason(err), seconds(to-from))
	c.s.notify(hearken.InputEvent{Kind: hearken.InputError, Err: err})
	_ = c.s.hub.finish(c.s, hearken.StopProviderFailed) // fails only if the session or the hub is ending already
}

// retryable reports whether opening the same engine again could help.
func retryable(err error) bool {
	switch hearken.CodeOf(err) {
	case hearken.APIKeyMissing, hearken.ProviderNotConfigured, hearken.Unauthorized, hearken.Forbidden:
		return false
	}
	return true
}

// backoff is 1 s, 2 s, and then always 4 s, so that the end of an outage is
// noticed soon.
func backoff(failures int) time.Duration {
	return jitter(time.Second << min(failures-1, 2))
}

// jitter is d, give or take a fifth.
func jitter(d time.Duration) time.Duration {
	return d + time.Duration((rand.Float64()-0.5)*0.4*float64(d))
}

// retryAfter is how long a provider asks the hub to wait, at most a minute.
func retryAfter(err error) time.Duration {
	var asks interface{ RetryAfter() time.Duration }
	if !errors.As(err, &asks) {
		return 0
	}
	return min(asks.RetryAfter(), time.Minute)
}

// pause waits and reports whether ctx is still alive then.
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
