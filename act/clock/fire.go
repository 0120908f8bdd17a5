package clock

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/schedule"
)

const (
	// tooLate is how late something may be told of.
	tooLate = 24 * time.Hour
	// late is what people notice.
	late = time.Minute
	// writing is how long the store and the audit may take: who hangs must not
	// keep other reminders waiting.
	writing = 20 * time.Second
)

// Missed is the code in front of an alarm's error whose time passed while the
// hub was off for too long.
const Missed hearken.Code = "reminder_missed"

// fire deals with one alarm that is due, from the claim to the end.
func (c *Clock) fire(alarm hearken.Alarm) {
	defer func() { c.leave(alarm) }()
	action := c.claim(&alarm)
	ours := action != nil && c.announce(&alarm, action)
	c.decided()
	if !ours {
		return
	}
	was, next := *alarm.Firing, alarm.Next
	told := c.tell(action, was)
	c.cfg.Fault("told")
	c.awaitCalm()
	c.endings <- struct{}{}
	defer func() { <-c.endings }()
	if told.postponed {
		c.release(&alarm, was, next, "")
	} else {
		c.finish(&alarm, action, was, told.problem())
	}
}

// claim makes the time that is due ours in the store, and returns what is to be
// told; nil if it did not become ours.
func (c *Clock) claim(alarm *hearken.Alarm) *hearken.Action {
	if !c.enter(c.claims) {
		return nil
	}
	defer func() { <-c.claims }()
	if c.stopped() {
		return nil
	}
	ctx, cancel := context.WithTimeout(c.ctx, writing)
	defer cancel()
	action, err := c.cfg.Store.Action(ctx, alarm.Action)
	if hearken.CodeOf(err) == hearken.NotFound || err == nil && action.Reminder == nil {
		c.drop(ctx, alarm)
		return nil
	}
	if err != nil {
		c.hold(alarm.Action, err)
		return nil
	}
	was, next := due(action.Reminder, alarm.Next, c.cfg.Now())
	if was.IsZero() {
		c.skip(ctx, alarm, action, next)
		return nil
	}
	if !c.replace(ctx, alarm, func(a *hearken.Alarm) { a.Firing, a.Next, a.Error = &was, next, "" }) {
		return nil
	}
	c.cfg.Fault("claimed")
	return action
}

// announce puts a claimed time into the audit. Nothing is told that is not
// written down, and nothing is lost: it will be told when there is an audit
// again.
func (c *Clock) announce(alarm *hearken.Alarm, action *hearken.Action) bool {
	ctx, cancel := context.WithTimeout(c.ctx, writing)
	defer cancel()
	was := *alarm.Firing
	if err := c.cfg.Audit.Append(ctx, record(action, was, "firing", "")); err != nil {
		c.release(alarm, was, alarm.Next, string(hearken.AuditUnavailable)+": The audit could not be written, so nothing was told yet.")
		c.hold(alarm.Action, err)
		return false
	}
	c.cfg.Fault("audited")
	return true
}

// decided counts one alarm fewer of which it is open whether it is ours.
func (c *Clock) decided() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unclaimed--; c.unclaimed == 0 {
		c.calm.Broadcast()
	}
}

// awaitCalm lets claims go first, for which people wait; for the last word about
// a time nobody does.
func (c *Clock) awaitCalm() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.unclaimed > 0 {
		c.calm.Wait()
	}
}

// replace changes an alarm if it still is as this clock knows it.
func (c *Clock) replace(ctx context.Context, alarm *hearken.Alarm, change func(a *hearken.Alarm)) bool {
	version := alarm.Version
	replaced, err := c.amend(ctx, alarm, func(a *hearken.Alarm) bool {
		if a.Version != version {
			return false
		}
		change(a)
		return true
	})
	if err != nil {
		c.hold(alarm.Action, err)
	}
	return replaced
}

// drop ends an alarm whose reminder is not there any more.
func (c *Clock) drop(ctx context.Context, alarm *hearken.Alarm) {
	c.replace(ctx, alarm, func(a *hearken.Alarm) {
		a.Next, a.Error = time.Time{}, string(hearken.NotFound)+": The reminder is not there any more."
	})
}

// due decides what to tell of an alarm: the newest time that has come, so that
// repeats which were missed are one, and the next after it. Of what is too old
// nothing is told.
func due(r *hearken.Reminder, from, now time.Time) (was, next time.Time) {
	zone := zoneOf(r)
	was = from
	if oldest := now.Add(-tooLate); was.Before(oldest) {
		if r.Repeat == "" {
			return time.Time{}, time.Time{}
		}
		first, ok := schedule.Next(r.Repeat, r.At, zone, oldest.Add(-1))
		if !ok || first.After(now) {
			return time.Time{}, first
		}
		was = first
	}
	if r.Repeat == "" {
		return was, time.Time{}
	}
	for {
		following, ok := schedule.Next(r.Repeat, r.At, zone, was)
		if !ok || following.After(now) {
			return was, following
		}
		was = following
	}
}

// zoneOf is the zone of a reminder. The name was checked when it was made; a
// zone that is gone since is better than no reminder.
func zoneOf(r *hearken.Reminder) *time.Location {
	if zone, err := time.LoadLocation(r.Zone); err == nil && r.Zone != "" {
		return zone
	}
	return r.At.Location()
}

// skip leaves out what is too old to be told of.
func (c *Clock) skip(ctx context.Context, alarm *hearken.Alarm, action *hearken.Action, next time.Time) {
	missed := alarm.Next
	problem := fmt.Sprintf("%s: The hub was off at %s and for more than a day after it.", Missed, missed.UTC().Format(time.RFC3339))
	if !c.replace(ctx, alarm, func(a *hearken.Alarm) { a.Next, a.Error = next, problem }) {
		return
	}
	c.cfg.Log.Warn("reminder missed", "id", alarm.Action)
	if err := c.cfg.Audit.Append(ctx, record(action, missed, "missed", problem)); err != nil {
		c.cfg.Log.Error("missed reminder is not in the audit", "id", alarm.Action, "error", err)
	}
}

// release gives a claimed time back that surely nobody was told of, unless
// somebody took the alarm's next time away since.
func (c *Clock) release(alarm *hearken.Alarm, was, next time.Time, problem string) {
	ctx, cancel := c.lastWords()
	defer cancel()
	_, err := c.amend(ctx, alarm, func(a *hearken.Alarm) bool {
		if !isFiring(a, was) {
			return false
		}
		a.Firing, a.Error = nil, problem
		if a.Next.Equal(next) {
			a.Next = was
		}
		return true
	})
	if err != nil {
		c.cfg.Log.Error("reminder cannot be given back", "id", alarm.Action, "error", err)
	}
}

// finish writes down how a time was told of. Who changed the alarm meanwhile is
// right about its next time, and this clock about this one.
func (c *Clock) finish(alarm *hearken.Alarm, action *hearken.Action, was time.Time, problem string) {
	ctx, cancel := c.lastWords()
	defer cancel()
	state := hearken.ActionDone
	switch {
	case strings.HasPrefix(problem, string(hearken.OutcomeUnknown)):
		state = hearken.ActionUnknown
	case problem != "":
		state = hearken.ActionFailed
	}
	if err := c.cfg.Audit.Append(ctx, record(action, was, string(state), problem)); err != nil {
		c.cfg.Log.Error("told reminder is not in the audit", "id", alarm.Action, "error", err)
	}
	_, err := c.amend(ctx, alarm, func(a *hearken.Alarm) bool {
		if a.Firing != nil && !isFiring(a, was) {
			return false // another hub tells of the next one already
		}
		a.Firing, a.Error = nil, problem
		if problem == "" {
			a.Fired = &was
		}
		return true
	})
	if err != nil {
		c.cfg.Log.Error("told reminder cannot be written", "id", alarm.Action, "error", err)
	}
}

// lastWords is a context for what must be written also while the clock ends.
func (c *Clock) lastWords() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(c.ctx), writing)
}

// hold leaves an alarm alone until the next look at the store.
func (c *Clock) hold(id string, err error) {
	c.cfg.Log.Error("reminder must wait", "id", id, "error", err)
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.alarms[id]; e != nil {
		e.held = true
	}
}

// leave gives an alarm back to the loop as it stands now.
func (c *Clock) leave(alarm hearken.Alarm) {
	c.mu.Lock()
	if e := c.alarms[alarm.Action]; e != nil {
		e.busy = false
	}
	c.mu.Unlock()
	c.take(alarm)
	c.rouse()
}

func record(a *hearken.Action, was time.Time, state, problem string) hearken.AuditRecord {
	return hearken.AuditRecord{
		Type: hearken.AuditFired, Action: a.ID, Principal: a.Principal, Tool: a.Tool, Target: a.Target, Digest: a.Digest,
		State: state, Error: problem, When: &was, Texts: map[string]string{"note": a.Reminder.Note},
	}
}
