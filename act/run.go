package act

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
)

const (
	maxConcurrent = 8                // actions that are carried out at the same time
	pollEvery     = 30 * time.Second // the system clock may have been changed
	backOffTime   = 5 * time.Second  // if the audit or the store cannot be written
)

// recover continues after an earlier queue ended. Repeatable attempts are
// repeated; the outcome of others is unknown.
func (q *Queue) recover(ctx context.Context) error {
	left, err := q.cfg.Store.Actions(ctx, hearken.ActionFilter{States: []hearken.ActionState{hearken.ActionExecuting}})
	if err != nil {
		return fmt.Errorf("find interrupted actions: %w", err)
	}
	for i := range left {
		a, recovered, err := q.update(ctx, left[i].ID, func(a *hearken.Action) bool {
			if a.State != hearken.ActionExecuting {
				return false
			}
			a.PendingAudit = hearken.AuditResult
			if c := q.connector(a); c != nil && c.Repeatable() {
				a.State = hearken.ActionApproved
				return true
			}
			failAction(a, hearken.ActionUnknown, q.cfg.Now().UTC(), hearken.OutcomeUnknown,
				"the hub ended while this was being carried out; check whether it arrived before you send it again.")
			return true
		})
		if err != nil {
			return fmt.Errorf("recover %s: %w", left[i].ID, err)
		}
		if recovered {
			q.notifyGranted(a)
		}
	}
	return q.recordAllPending(ctx)
}

// run carries out due actions and expires undecided ones until ctx ends.
func (q *Queue) run(ctx context.Context) {
	forget := time.Time{}
	for {
		next := q.runDue(ctx)
		if now := q.cfg.Now(); q.cfg.Retention > 0 && now.Sub(forget) > time.Hour {
			forget = now
			if n, err := q.cfg.Store.ForgetActions(ctx, now.Add(-q.cfg.Retention)); err != nil && ctx.Err() == nil {
				q.log.Warn("old actions not removed", "error", err)
			} else if n > 0 {
				q.log.Info("old actions removed", "count", n)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-q.wakeup:
		case <-time.After(next):
		}
	}
}

// runDue starts what is due and returns how long nothing else will be.
func (q *Queue) runDue(ctx context.Context) time.Duration {
	waiting, err := q.cfg.Store.Actions(ctx, hearken.ActionFilter{
		States: []hearken.ActionState{hearken.ActionPending, hearken.ActionApproved},
	})
	if err != nil {
		if ctx.Err() == nil {
			q.log.Warn("actions cannot be read", "error", err)
		}
		return backOffTime
	}
	q.audit.retry(ctx)
	q.cfg.Exposure.CheckAudio()
	q.settleCalls(ctx, waiting)
	now := q.cfg.Now()
	next, wait := pollEvery, q.backOffLeft(now)
	if q.auditPending.Load() {
		if next = min(next, max(wait, 0)); wait <= 0 {
			if err := q.recordAllPending(ctx); err != nil && ctx.Err() == nil {
				q.log.Warn("pending audit records not written", "error", err)
			}
			next = backOffTime
		}
	}
	for i := len(waiting) - 1; i >= 0; i-- { // the oldest first
		a := &waiting[i]
		left := a.ExpiresAt.Sub(now)
		if a.State == hearken.ActionApproved {
			left = wait
			if a.RunAt != nil {
				left = max(left, a.RunAt.Sub(now))
			}
		}
		switch {
		case left > 0:
			next = min(next, left)
		case a.State == hearken.ActionPending:
			q.expire(ctx, a.ID)
		case q.Paused() || !q.tryReserve(a.ID): // the next change wakes the worker
		default:
			q.working.Go(func() {
				defer q.release(a.ID)
				q.execute(ctx, a.ID)
			})
		}
	}
	return next
}

// tryReserve reserves an action for one attempt, if not too many are running.
func (q *Queue) tryReserve(id string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.reserved) >= maxConcurrent || q.reserved[id] > 0 {
		return false
	}
	q.reserved[id]++
	return true
}

// reserve keeps the worker from an action until release is called, so that its
// decision is in the audit first. Several deciders may reserve it at once: the
// worker waits for the last of them.
func (q *Queue) reserve(id string) (release func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.reserved[id]++
	return func() { q.release(id) }
}

func (q *Queue) release(id string) {
	q.mu.Lock()
	if q.reserved[id]--; q.reserved[id] == 0 {
		delete(q.reserved, id)
	}
	q.mu.Unlock()
	q.wake()
}

// expire expires an action that nobody decided about.
func (q *Queue) expire(ctx context.Context, id string) {
	_, _, err := q.changeAndRecord(ctx, id, func(a *hearken.Action) bool {
		now := q.cfg.Now().UTC()
		if a.State != hearken.ActionPending || now.Before(a.ExpiresAt) {
			return false
		}
		expireAction(a, now)
		a.PendingAudit = hearken.AuditDecided
		return true
	})
	if err != nil && ctx.Err() == nil {
		q.log.Warn("action not ended", "action", id, "error", err)
	}
}

// execute makes one attempt at an approved action. The audit record comes
// first: if the hub ends before the action is claimed, nothing was done and the
// next hub starts anew. A running attempt is not interrupted when the queue
// closes: that would only make its outcome unknown.
func (q *Queue) execute(ctx context.Context, id string) {
	if ctx.Err() != nil {
		return
	}
	ctx = context.WithoutCancel(ctx) // an interrupted attempt is the worst outcome
	a, err := q.cfg.Store.Action(ctx, id)
	if err != nil {
		q.log.Warn("action not begun", "action", id, "error", err)
		return
	}
	if a.State != hearken.ActionApproved || a.RunAt != nil && q.cfg.Now().Before(*a.RunAt) {
		return // it has changed since
	}
	if !q.recordChange(ctx, a) {
		return
	}
	stop, off, err := q.whyNotNow(ctx, a)
	if err != nil {
		q.log.Warn("action not begun", "action", id, "error", err)
		q.backOff()
		return
	}
	if stop == nil && off == "" {
		attempt := actionRecord(hearken.AuditExecuting, a)
		attempt.State = string(hearken.ActionExecuting)
		if err := q.audit.write(ctx, attempt); err != nil {
			q.backOff()
			return
		}
		q.cfg.Failpoint("audited")
	}
	a, claimed, err := q.claim(ctx, id)
	switch {
	case err != nil:
		q.log.Warn("action not begun", "action", id, "error", err)
		q.backOff()
	case !claimed: // cancelled or paused at the last moment
		q.audit.writeOrQueue(ctx, actionRecord(hearken.AuditResult, a))
	case a.State != hearken.ActionExecuting:
		q.recordChange(ctx, a)
		q.notifyGranted(a)
		if a.State == hearken.ActionPending && a.Call == "" { // otherwise the worker tells, in time
			q.notify(pendingNotice(a))
		}
	default:
		q.cfg.Failpoint("claimed")
		out := q.attempt(ctx, a)
		q.cfg.Failpoint("done")
		q.saveOutcome(a.ID, out)
	}
}

// claim marks an approved action as executing, or ends it if it is no longer
// allowed. If a grant allowed it and has been switched off since, the owner is
// asked.
func (q *Queue) claim(ctx context.Context, id string) (*hearken.Action, bool, error) {
	q.gate.RLock()
	defer q.gate.RUnlock()
	var unknown error // whether it is allowed
	a, claimed, err := q.update(ctx, id, func(a *hearken.Action) bool {
		if a.State != hearken.ActionApproved || q.Paused() {
			return false
		}
		var stop *hearken.Error
		var off string
		stop, off, unknown = q.whyNotNow(ctx, a)
		switch {
		case unknown != nil:
			return false
		case stop != nil:
			state := hearken.ActionDenied
			switch stop.Code {
			case hearken.ApprovalExpired:
				state = hearken.ActionExpired
			case hearken.OutcomeUnknown:
				state = hearken.ActionUnknown
			}
			failAction(a, state, q.cfg.Now().UTC(), stop.Code, stop.Message)
			a.PendingAudit = hearken.AuditDecided
		case off != "":
			q.askInstead(a, off)
		default:
			a.State, a.RunAt, a.PendingAudit = hearken.ActionExecuting, nil, ""
			a.Attempts++
		}
		return true
	})
	return a, claimed, cmp.Or(err, unknown)
}

// backOff keeps anything from starting for a while: the audit or the store
// cannot be written.
func (q *Queue) backOff() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.backOffUntil = q.cfg.Now().Add(backOffTime)
}

// backOffLeft returns how long nothing may start.
func (q *Queue) backOffLeft(now time.Time) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.backOffUntil.Sub(now)
}

// approvalLifetime is how long an approval holds: what was right to do then may
// be wrong later.
const approvalLifetime = time.Hour

// whyNotNow says why an approved action must end: it has waited too long, or its
// key or its grant was revoked. If only the grant that allowed it does not apply
// now, off says why. If the store cannot tell, whyNotNow fails, and the action
// has to wait.
func (q *Queue) whyNotNow(ctx context.Context, a *hearken.Action) (stop *hearken.Error, off string, err error) {
	if a.Decision != nil && q.cfg.Now().Sub(a.Decision.At) > approvalLifetime {
		if c := q.connector(a); a.Attempts > 0 && c != nil && c.Repeatable() {
			return hearken.Errorf(hearken.OutcomeUnknown, "an earlier attempt may have succeeded, and it is too late for another."), "", nil
		}
		return hearken.Errorf(hearken.ApprovalExpired, "it was approved, but could not be carried out in time."), "", nil
	}
	key, err := q.key(ctx, a.Principal)
	if hearken.CodeOf(err) == hearken.Unauthorized {
		return hearken.Errorf(hearken.ActionWasDenied, "the key was revoked before this was carried out."), "", nil
	}
	if err != nil || a.Decision == nil || a.Decision.Grant == "" {
		return nil, "", err
	}
	grants, err := q.cfg.Store.Grants(ctx)
	if err != nil {
		return nil, "", err
	}
	if !slices.ContainsFunc(grants, func(g hearken.Grant) bool { return g.ID == a.Decision.Grant && isValidGrant(&g, a.Decision.At) }) {
		return hearken.Errorf(hearken.ActionWasDenied, "the grant was revoked before this was carried out."), "", nil
	}
	return nil, q.cfg.Exposure.whyExposed(key), nil
}

// askInstead lets the owner decide about an action whose grant does not apply any
// more. If an earlier attempt may have succeeded, it ends: a no would be wrong.
func (q *Queue) askInstead(a *hearken.Action, why string) {
	now := q.cfg.Now().UTC()
	a.PendingAudit = hearken.AuditDecided
	if c := q.connector(a); a.Attempts > 0 && c != nil && c.Repeatable() {
		failAction(a, hearken.ActionUnknown, now, hearken.OutcomeUnknown, "an earlier attempt may have succeeded, and the grant does not apply now.")
		return
	}
	a.State, a.Decision, a.RunAt, a.ExpiresAt = hearken.ActionPending, nil, nil, now.Add(q.cfg.Approval)
	a.Warnings = append(a.Warnings, offWarning(why))
	q.collect(a)
}
