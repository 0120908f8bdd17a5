package clock

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
)

// recheck is how long the clock trusts its timers: they stand still while the
// computer sleeps, and do not know that somebody set its clock. Also the store
// is looked at then, for what other hubs wrote.
const recheck = 30 * time.Second

// abandoned is how long somebody else's claim may stand: longer than telling
// takes.
const abandoned = 10 * time.Minute

// run starts what is due until the clock is closed.
func (c *Clock) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	looked := time.Now()
	for {
		select {
		case <-c.stop:
			return
		case <-c.wake:
		case <-timer.C:
		}
		if time.Since(looked) >= recheck {
			c.look()
			looked = time.Now()
		}
		timer.Reset(min(c.fireDue(), recheck))
	}
}

// fireDue starts what is due, the earliest first, and returns how long it is to
// the next.
func (c *Clock) fireDue() time.Duration {
	now := c.cfg.Now()
	wait := recheck
	var due []*entry
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
	slices.SortFunc(due, func(a, b *entry) int {
		return cmp.Or(a.alarm.Next.Compare(b.alarm.Next), cmp.Compare(a.alarm.Action, b.alarm.Action))
	})
	for _, e := range due {
		alarm := e.alarm
		c.work.Go(func() { c.fire(alarm) })
	}
	return wait
}

// look reads from the store what is due soon, and lets what failed be tried
// again.
func (c *Clock) look() {
	ctx, cancel := context.WithTimeout(c.ctx, recheck)
	defer cancel()
	soon, err := c.cfg.Store.Alarms(ctx, c.cfg.Now().Add(2*recheck))
	if err != nil {
		c.cfg.Log.Error("alarms cannot be read", "error", err)
		return
	}
	for _, a := range soon {
		c.take(a)
		if a.Firing != nil && c.leftBehind(a) {
			if err := c.settle(ctx, &a); err != nil {
				c.cfg.Log.Error("alarm cannot be settled", "id", a.Action, "error", err)
				continue
			}
			c.take(a)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.alarms {
		e.held = false
	}
}

// leftBehind reports whether a claim of another hub has stood for so long that
// nobody will end it.
func (c *Clock) leftBehind(a hearken.Alarm) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.alarms[a.Action]
	if e == nil || e.busy || e.alarm.Version != a.Version {
		return false
	}
	if e.since.IsZero() {
		e.since = time.Now()
	}
	return time.Since(e.since) >= abandoned
}

// rouse has the clock look at its alarms now.
func (c *Clock) rouse() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}
