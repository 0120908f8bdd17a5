package alarm

import (
	"context"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/schedule"
)

const (
	// maxLateness is how late a notification may be.
	maxLateness = 24 * time.Hour
	// noticeableDelay makes a notification late.
	noticeableDelay = time.Minute
	// writeTimeout bounds the writes to store and audit, so that one that hangs
	// does not block other reminders.
	writeTimeout = 20 * time.Second
)

// reminderMissed is the code of an alarm whose time passed while the hub was
// off for too long.
const reminderMissed hearken.Code = "reminder_missed"

// fire handles one due alarm, from the claim to the result.
func (c *Clock) fire(alarm hearken.Alarm) {
	defer func() { c.stopFiring(alarm) }()
	action := c.claim(&alarm)
	ours := action != nil && c.recordFiring(&alarm, action)
	c.claimDecided()
	if !ours {
		return
	}
	at, next := *alarm.Firing, alarm.Next
	result := c.notifyAll(action, at)
	c.cfg.Failpoint("told")
	c.awaitClaims()
	c.endSlots <- struct{}{}
	defer func() { <-c.endSlots }()
	if result.postponed {
		c.releaseClaim(&alarm, at, next, nil)
	} else {
		c.saveResult(&alarm, action, at, result.failure())
	}
}

// claim claims the due time in the store and returns the reminder. It returns
// nil if this hub did not get the claim.
func (c *Clock) claim(alarm *hearken.Alarm) *hearken.Action {
	if !c.acquire(c.claimSlots) {
		return nil
	}
	defer func() { <-c.claimSlots }()
	if c.closing.Err() != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(c.ctx, writeTimeout)
	defer cancel()
	action, err := c.cfg.Store.Action(ctx, alarm.Action)
	if hearken.CodeOf(err) == hearken.NotFound || err == nil && action.Reminder == nil {
		c.updateUnchanged(ctx, alarm, func(a *hearken.Alarm) {
			a.Next = time.Time{}
			a.SetFailure(hearken.Errorf(hearken.NotFound, "The reminder no longer exists."))
		})
		return nil
	}
	if err != nil {
		c.postpone(alarm.Action, err)
		return nil
	}
	at, next := dueTime(action.Reminder, alarm.Next, c.cfg.Now())
	if at.IsZero() {
		c.skipMissed(ctx, alarm, action, next)
		return nil
	}
	if !c.updateUnchanged(ctx, alarm, func(a *hearken.Alarm) {
		a.Firing, a.Next = &at, next
		a.SetFailure(nil)
	}) {
		return nil
	}
	c.cfg.Failpoint("claimed")
	return action
}

// recordFiring records a claimed time in the audit. If that fails, the time is
// released and fires when the audit works again.
func (c *Clock) recordFiring(alarm *hearken.Alarm, action *hearken.Action) bool {
	ctx, cancel := context.WithTimeout(c.ctx, writeTimeout)
	defer cancel()
	at := *alarm.Firing
	if err := c.cfg.Audit.Append(ctx, firedRecord(action, at, "firing", nil)); err != nil {
		c.releaseClaim(alarm, at, alarm.Next, hearken.Errorf(hearken.AuditUnavailable, "The audit could not be written, so the reminder waits."))
		c.postpone(alarm.Action, err)
		return false
	}
	c.cfg.Failpoint("audited")
	return true
}

// claimDecided notes that one more due alarm is claimed or given up.
func (c *Clock) claimDecided() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unclaimed--; c.unclaimed == 0 {
		c.noneUnclaimed.Broadcast()
	}
}

// awaitClaims lets claims go first: people wait for notifications, but nobody
// waits for their results.
func (c *Clock) awaitClaims() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.unclaimed > 0 {
		c.noneUnclaimed.Wait()
	}
}

// updateUnchanged changes an alarm if nobody else has changed it.
func (c *Clock) updateUnchanged(ctx context.Context, alarm *hearken.Alarm, change func(a *hearken.Alarm)) bool {
	version := alarm.Version
	replaced, err := c.update(ctx, alarm, func(a *hearken.Alarm) bool {
		if a.Version != version {
			return false
		}
		change(a)
		return true
	})
	if err != nil {
		c.postpone(alarm.Action, err)
	}
	return replaced
}

// dueTime returns the time to notify of and the next one after it. It chooses
// the newest time that has come, so that missed repetitions become one. at is
// zero if it is too late for all of them.
func dueTime(r *hearken.Reminder, from, now time.Time) (at, next time.Time) {
	zone := zoneOf(r)
	at = from
	if oldest := now.Add(-maxLateness); at.Before(oldest) {
		if r.Repeat == "" {
			return time.Time{}, time.Time{}
		}
		first, ok := schedule.Next(r.Repeat, r.At, zone, oldest.Add(-1))
		if !ok || first.After(now) {
			return time.Time{}, first
		}
		at = first
	}
	if r.Repeat == "" {
		return at, time.Time{}
	}
	for {
		following, ok := schedule.Next(r.Repeat, r.At, zone, at)
		if !ok || following.After(now) {
			return at, following
		}
		at = following
	}
}

// zoneOf returns the zone of a reminder. Its name was checked when the reminder
// was made; if the zone is gone since, a shifted reminder is better than none.
func zoneOf(r *hearken.Reminder) *time.Location {
	if zone, err := time.LoadLocation(r.Zone); err == nil && r.Zone != "" {
		return zone
	}
	return r.At.Location()
}

// skipMissed skips a time that is too old.
func (c *Clock) skipMissed(ctx context.Context, alarm *hearken.Alarm, action *hearken.Action, next time.Time) {
	missed := alarm.Next
	failure := hearken.Errorf(reminderMissed, "The hub was off at %s and for more than a day after it.", missed.UTC().Format(time.RFC3339))
	skipped := c.updateUnchanged(ctx, alarm, func(a *hearken.Alarm) {
		a.Next = next
		a.SetFailure(failure)
	})
	if !skipped {
		return
	}
	c.cfg.Log.Warn("reminder missed", "id", alarm.Action)
	if err := c.cfg.Audit.Append(ctx, firedRecord(action, missed, "missed", failure)); err != nil {
		c.cfg.Log.Error("missed reminder is not in the audit", "id", alarm.Action, "error", err)
	}
}

// releaseClaim gives up a claimed time that surely was not notified, unless
// somebody has cancelled the alarm since.
func (c *Clock) releaseClaim(alarm *hearken.Alarm, at, next time.Time, failure *hearken.Error) {
	ctx, cancel := c.finalContext()
	defer cancel()
	_, err := c.update(ctx, alarm, func(a *hearken.Alarm) bool {
		if !isFiring(a, at) {
			return false
		}
		a.Firing = nil
		a.SetFailure(failure)
		if a.Next.Equal(next) {
			a.Next = at
		}
		return true
	})
	if err != nil {
		c.cfg.Log.Error("reminder cannot be released", "id", alarm.Action, "error", err)
	}
}

// saveResult saves the result of a notification. It leaves the next time alone,
// which somebody may have changed meanwhile.
func (c *Clock) saveResult(alarm *hearken.Alarm, action *hearken.Action, at time.Time, failure *hearken.Error) {
	ctx, cancel := c.finalContext()
	defer cancel()
	state := hearken.ActionDone
	switch {
	case failure == nil:
	case failure.Code == hearken.OutcomeUnknown:
		state = hearken.ActionUnknown
	default:
		state = hearken.ActionFailed
	}
	if err := c.cfg.Audit.Append(ctx, firedRecord(action, at, string(state), failure)); err != nil {
		c.cfg.Log.Error("fired reminder is not in the audit", "id", alarm.Action, "error", err)
	}
	_, err := c.update(ctx, alarm, func(a *hearken.Alarm) bool {
		if a.Firing != nil && !isFiring(a, at) {
			return false // another hub already fires the next one
		}
		a.Firing = nil
		a.SetFailure(failure)
		if failure == nil {
			a.Fired = &at
		}
		return true
	})
	if err != nil {
		c.cfg.Log.Error("fired reminder cannot be saved", "id", alarm.Action, "error", err)
	}
}

// finalContext is a context for what must be saved even while the clock closes.
func (c *Clock) finalContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(c.ctx), writeTimeout)
}

// postpone leaves an alarm alone until the next reload.
func (c *Clock) postpone(id string, err error) {
	c.cfg.Log.Error("reminder must wait", "id", id, "error", err)
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.alarms[id]; e != nil {
		e.held = true
	}
}

// stopFiring marks an alarm as no longer firing, with its new state.
func (c *Clock) stopFiring(alarm hearken.Alarm) {
	c.mu.Lock()
	if e := c.alarms[alarm.Action]; e != nil {
		e.busy = false
	}
	c.mu.Unlock()
	c.remember(alarm)
	c.wakeUp()
}

func firedRecord(a *hearken.Action, at time.Time, state string, failure *hearken.Error) hearken.AuditRecord {
	r := hearken.AuditRecord{
		Type: hearken.AuditFired, Action: a.ID, Principal: a.Principal, Tool: a.Tool, Target: a.Target, Digest: a.Digest,
		State: state, When: &at, Texts: map[string]string{"note": a.Reminder.Note},
	}
	if failure != nil {
		r.Error = string(failure.Code) + ": " + failure.Message
	}
	return r
}
