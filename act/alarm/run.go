package alarm

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
)

// pollInterval is how long the clock trusts its timers: they stop while the
// computer sleeps, and do not notice changes of the system clock. The store is
// read in the same interval, for what other hubs wrote.
const pollInterval = 30 * time.Second

// abandonedAfter is how old another hub's claim must be before this one ends
// it: longer than notifying takes.
const abandonedAfter = 10 * time.Minute

// run fires what is due until the clock is closed.
func (c *Clock) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	looked := time.Now()
	for {
		select {
		case <-c.closing.Done():
			return
		case <-c.wake:
		case <-timer.C:
		}
		if time.Since(looked) >= pollInterval {
			c.reload()
			looked = time.Now()
		}
		timer.Reset(min(c.fireDue(), pollInterval))
	}
}

// fireDue fires what is due, earliest first, and returns the time until the
// next.
func (c *Clock) fireDue() time.Duration {
	now := c.cfg.Now()
	wait := pollInterval
	var due []*trackedAlarm
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.alarms {
		switch left := e.alarm.Next.Sub(now); {
		case e.busy || e.held || e.alarm.Next.IsZero():
		case left > 0:
			wait = min(wait, left)
		default:
			e.busy = true
			c.unclaimed++
			due = append(due, e)
		}
	}
	slices.SortFunc(due, func(a, b *trackedAlarm) int {
		return cmp.Or(a.alarm.Next.Compare(b.alarm.Next), cmp.Compare(a.alarm.Action, b.alarm.Action))
	})
	for _, e := range due {
		alarm := e.alarm
		c.work.Go(func() { c.fire(alarm) })
	}
	return wait
}

// reload reads from the store what is due soon, and lets postponed alarms be
// retried.
func (c *Clock) reload() {
	ctx, cancel := context.WithTimeout(c.ctx, pollInterval)
	defer cancel()
	soon, err := c.cfg.Store.Alarms(ctx, c.cfg.Now().Add(2*pollInterval))
	if err != nil {
		c.cfg.Log.Error("alarms cannot be read", "error", err)
		return
	}
	for _, a := range soon {
		c.remember(a)
		if a.Firing != nil && c.isAbandoned(a) {
			if err := c.endAbandoned(ctx, &a); err != nil {
				c.cfg.Log.Error("abandoned alarm cannot be ended", "id", a.Action, "error", err)
				continue
			}
			c.remember(a)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.alarms {
		e.held = false
	}
}

// isAbandoned reports whether another hub's claim is so old that nobody will
// end it.
func (c *Clock) isAbandoned(a hearken.Alarm) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.alarms[a.Action]
	if e == nil || e.busy || e.alarm.Version != a.Version {
		return false
	}
	if e.since.IsZero() {
		e.since = time.Now()
	}
	return time.Since(e.since) >= abandonedAfter
}

// wakeUp makes the clock check its alarms now.
func (c *Clock) wakeUp() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}
