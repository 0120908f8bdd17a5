package act

import (
	"context"
	"fmt"
	"time"

	"github.com/hearken-dev/hearken"
)

const (
	atOnce         = 8                // actions that are carried out at the same time
	attemptTimeout = 60 * time.Second // for one attempt
	pollEvery      = 30 * time.Second // the clock may have been changed
	restFor        = 5 * time.Second  // when the audit or the store cannot be written
)

// backoff is how long to wait after the first, second and third attempt that
// surely had no effect.
var backoff = []time.Duration{2 * time.Second, 8 * time.Second, 30 * time.Second}

// recover takes up what an earlier desk was doing when it ended. What may be
// done twice is done again; of the rest nobody can say whether it happened.
func (d *Queue) recover(ctx context.Context) error {
	left, err := d.cfg.Store.Actions(ctx, hearken.ActionFilter{States: []hearken.ActionState{hearken.ActionExecuting}})
	if err != nil {
		return fmt.Errorf("actions that were under way: %w", err)
	}
	for i := range left {
		_, _, err := d.update(ctx, left[i].ID, func(a *hearken.Action) bool {
			if a.State != hearken.ActionExecuting {
				return false
			}
			a.PendingAudit = hearken.AuditResult
			if c := d.connector(a); c != nil && c.Repeatable() {
				a.State = hearken.ActionApproved
				return true
			}
			end(a, hearken.ActionUnknown, d.cfg.Now().UTC(), "outcome_unknown: the hub ended while this was being carried out; look whether it arrived before you send it again.")
			return true
		})
		if err != nil {
			return fmt.Errorf("take up %s: %w", left[i].ID, err)
		}
	}
	return d.settleAll(ctx)
}

// work carries out what is due and ends what nobody decided, until ctx ends.
func (d *Queue) work(ctx context.Context) {
	forget := time.Time{}
	for {
		next := d.due(ctx)
		if now := d.cfg.Now(); d.cfg.Retention > 0 && now.Sub(forget) > time.Hour {
			forget = now
			if n, err := d.cfg.Store.ForgetActions(ctx, now.Add(-d.cfg.Retention)); err != nil && ctx.Err() == nil {
				d.log.Warn("old actions not removed", "error", err)
			} else if n > 0 {
				d.log.Info("old actions removed", "count", n)
			}
		}
		timer := time.NewTimer(next)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-d.nudge:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// due looks through what waits, begins what is due, and returns how long
// nothing will be.
func (d *Queue) due(ctx context.Context) time.Duration {
	waiting, err := d.cfg.Store.Actions(ctx, hearken.ActionFilter{
		States: []hearken.ActionState{hearken.ActionPending, hearken.ActionApproved},
	})
	if err != nil {
		if ctx.Err() == nil {
			d.log.Warn("actions cannot be read", "error", err)
		}
		return restFor
	}
	d.ledger.retry(ctx)
	now := d.cfg.Now()
	next, rests := pollEvery, d.rests(now)
	if d.unsettled.Load() {
		if next = min(next, max(rests, 0)); rests <= 0 {
			if err := d.settleAll(ctx); err != nil && ctx.Err() == nil {
				d.log.Warn("not all is written down", "error", err)
			}
			next = restFor
		}
	}
	for i := len(waiting) - 1; i >= 0; i-- { // the oldest first
		a := &waiting[i]
		left := a.ExpiresAt.Sub(now)
		if a.State == hearken.ActionApproved {
			left = rests
			if a.RunAt != nil {
				left = max(left, a.RunAt.Sub(now))
			}
		}
		switch {
		case left > 0:
			next = min(next, left)
		case a.State == hearken.ActionPending:
			d.expire(ctx, a.ID)
		case d.Paused() || !d.begin(a.ID): // it is looked at again when something changes
		default:
			d.working.Go(func() {
				defer d.ended(a.ID)
				d.carryOut(ctx, a.ID)
			})
		}
	}
	return next
}

// begin reserves one of the places for what is carried out.
func (d *Queue) begin(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.running) >= atOnce || d.running[id] {
		return false
	}
	d.running[id] = true
	return true
}

// hold keeps the worker from an action until ended: its decision comes first
// into the audit.
func (d *Queue) hold(id string) (release func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.running[id] {
		return func() {}
	}
	d.running[id] = true
	return func() { d.ended(id) }
}

func (d *Queue) ended(id string) {
	d.mu.Lock()
	delete(d.running, id)
	d.mu.Unlock()
	d.wake()
}

// expire ends an action that nobody decided about in time.
func (d *Queue) expire(ctx context.Context, id string) {
	a, changed, err := d.update(ctx, id, func(a *hearken.Action) bool {
		now := d.cfg.Now().UTC()
		if a.State != hearken.ActionPending || now.Before(a.ExpiresAt) {
			return false
		}
		end(a, hearken.ActionExpired, now, "approval_expired: nobody decided in time, which means no.")
		a.PendingAudit = hearken.AuditDecided
		return true
	})
	switch {
	case err != nil && ctx.Err() == nil:
		d.log.Warn("action not ended", "action", id, "error", err)
	case changed:
		d.settle(ctx, a)
	}
}

// carryOut makes one attempt at an approved action. The audit comes first: if
// the hub ends before the action is claimed, nothing was done and the next one
// begins anew. An attempt that has begun is not cut off when the hub ends:
// that would only make its outcome unknown.
func (d *Queue) carryOut(ctx context.Context, id string) {
	if ctx.Err() != nil {
		return
	}
	ctx = context.WithoutCancel(ctx) // half of it would be worse than all
	a, err := d.cfg.Store.Action(ctx, id)
	if err != nil {
		d.log.Warn("action not begun", "action", id, "error", err)
		return
	}
	if a.State != hearken.ActionApproved || a.RunAt != nil && d.cfg.Now().Before(*a.RunAt) {
		return // it went on since it was looked at
	}
	if !d.settle(ctx, a) {
		return
	}
	if d.withdrawn(ctx, a) == "" {
		attempt := record(hearken.AuditExecuting, a)
		attempt.State = string(hearken.ActionExecuting)
		if err := d.ledger.write(ctx, attempt); err != nil {
			d.rest()
			return
		}
		d.cfg.Fault("audited")
	}
	a, claimed, err := d.claim(ctx, id)
	switch {
	case err != nil:
		d.log.Warn("action not begun", "action", id, "error", err)
		d.rest()
	case !claimed: // it was cancelled, or all is paused, at the last moment
		d.ledger.note(ctx, record(hearken.AuditResult, a))
	case a.State != hearken.ActionExecuting:
		d.settle(ctx, a)
	default:
		d.cfg.Fault("claimed")
		out := d.attempt(ctx, a)
		d.cfg.Fault("done")
		d.conclude(a.ID, out)
	}
}

// claim takes an approved action to be carried out here, or ends it if it may
// not be any more.
func (d *Queue) claim(ctx context.Context, id string) (*hearken.Action, bool, error) {
	d.gate.RLock()
	defer d.gate.RUnlock()
	return d.update(ctx, id, func(a *hearken.Action) bool {
		if a.State != hearken.ActionApproved || d.Paused() {
			return false
		}
		if why := d.withdrawn(ctx, a); why != "" {
			state := hearken.ActionDenied
			switch codeOf(why) {
			case hearken.ApprovalExpired:
				state = hearken.ActionExpired
			case hearken.OutcomeUnknown:
				state = hearken.ActionUnknown
			}
			end(a, state, d.cfg.Now().UTC(), why)
			a.PendingAudit = hearken.AuditDecided
			return true
		}
		a.State, a.RunAt, a.PendingAudit = hearken.ActionExecuting, nil, ""
		a.Attempts++
		return true
	})
}

// rest has nothing begun for a while: the audit or the store cannot be
// written.
func (d *Queue) rest() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.resting = d.cfg.Now().Add(restFor)
}

// rests is how long nothing is begun.
func (d *Queue) rests(now time.Time) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.resting.Sub(now)
}

// goodFor is how long an approval holds: what was right to do then may be wrong
// a day later.
const goodFor = time.Hour

// withdrawn says why an approved action may no longer be carried out: it has
// waited too long, or its key or its grant was revoked meanwhile.
func (d *Queue) withdrawn(ctx context.Context, a *hearken.Action) string {
	if a.Decision != nil && d.cfg.Now().Sub(a.Decision.At) > goodFor {
		if c := d.connector(a); a.Attempts > 0 && c != nil && c.Repeatable() {
			return "outcome_unknown: an attempt long ago may have been taken, and it is too late for another."
		}
		return "approval_expired: it was approved, but could not be carried out in time."
	}
	if _, err := d.key(ctx, a.Principal); hearken.CodeOf(err) == hearken.Unauthorized {
		return "denied: the key was revoked before this was carried out."
	}
	if a.Decision == nil || a.Decision.Grant == "" {
		return ""
	}
	grants, err := d.cfg.Store.Grants(ctx)
	if err != nil {
		return "" // the store is asked again for the action itself
	}
	for i := range grants {
		if grants[i].ID == a.Decision.Grant && good(&grants[i], a.Decision.At) {
			return ""
		}
	}
	return "denied: the grant was revoked before this was carried out."
}

// attempt has the connector do it.
func (d *Queue) attempt(ctx context.Context, a *hearken.Action) (out hearken.Outcome) {
	c := d.connector(a)
	if c == nil {
		return hearken.Outcome{Result: hearken.ResultPermanent, Message: "The connector " + a.Connector + " is not set up any more."}
	}
	defer func() {
		if v := recover(); v != nil {
			// The value may hold what somebody said; its type does not.
			d.log.Error("connector panicked", "connector", a.Connector, "type", fmt.Sprintf("%T", v))
			out = hearken.Outcome{Result: hearken.ResultUnknown, Message: "Something went wrong inside the hub while it was carried out."}
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	return c.Do(ctx, a)
}

// conclude keeps how an attempt went. It does not give up: whatever happened
// has happened.
func (d *Queue) conclude(id string, out hearken.Outcome) {
	ctx := context.Background()
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, restFor) {
		a, changed, err := d.update(ctx, id, func(a *hearken.Action) bool {
			if a.State != hearken.ActionExecuting {
				return false
			}
			d.apply(a, out)
			a.PendingAudit = hearken.AuditResult
			return true
		})
		if err == nil {
			if changed {
				d.settle(ctx, a)
			}
			return
		}
		d.log.Error("result of an action not kept", "action", id, "error", err)
		if !d.pause(wait) {
			return // the next hub finds it as it was, and says that it does not know
		}
	}
}

// apply writes an outcome into an action.
func (d *Queue) apply(a *hearken.Action, out hearken.Outcome) {
	now := d.cfg.Now().UTC()
	a.Receipt = out.Receipt
	switch out.Result {
	case hearken.ResultOK:
		end(a, hearken.ActionDone, now, "")
	case hearken.ResultTemporary:
		if a.Attempts <= len(backoff) {
			at := now.Add(max(backoff[a.Attempts-1], min(out.After, 10*time.Minute)))
			a.State, a.RunAt = hearken.ActionApproved, &at
			a.Error = "provider_temporary: " + out.Message
			return
		}
		if c := d.connector(a); c != nil && c.Repeatable() {
			// An attempt that can be repeated also counts as temporary when it
			// got no answer, so one of them may have been taken.
			end(a, hearken.ActionUnknown, now, "outcome_unknown: "+out.Message)
			return
		}
		end(a, hearken.ActionFailed, now, "provider_temporary: "+out.Message)
	case hearken.ResultPermanent:
		end(a, hearken.ActionFailed, now, "provider_rejected: "+out.Message)
	default:
		end(a, hearken.ActionUnknown, now, "outcome_unknown: "+out.Message)
	}
}

// pause waits and tells whether the desk is still open.
func (d *Queue) pause(wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-d.closing:
		return false
	}
}

// connector finds who carries out an action; nil if there is none.
func (d *Queue) connector(a *hearken.Action) hearken.Connector {
	of := d.connectors(a.Tool)
	for _, c := range of {
		if c.Name() == a.Connector {
			if a.Tool == hearken.ReminderCreate {
				return mirrored{c, others(of, c)}
			}
			return c
		}
	}
	return nil
}

// connectors are those of a tool.
func (d *Queue) connectors(tool string) []hearken.Connector {
	switch tool {
	case hearken.CalendarCreate:
		return d.cfg.Calendars
	case hearken.MessageSend:
		return d.cfg.Messengers
	case hearken.ReminderCreate:
		return d.cfg.Reminders
	}
	return nil
}
