package act

import (
	"context"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
)

// Decide decides about a pending action. If several decide, the first counts:
// decided reports whether it was this one.
func (q *Queue) Decide(ctx context.Context, req DecisionRequest) (a *hearken.Action, decided bool, err error) {
	if a, err = q.Action(ctx, req.ID); err != nil {
		return nil, false, err
	}
	if err := q.mayDecide(ctx, a, req); err != nil {
		return a, false, err
	}
	defer q.reserve(req.ID)() // so that the decision is in the audit before it runs
	var late bool
	a, decided, err = q.update(ctx, req.ID, func(a *hearken.Action) bool {
		if a.State != hearken.ActionPending {
			return false
		}
		now := q.cfg.Now().UTC()
		a.PendingAudit = hearken.AuditDecided
		if late = !now.Before(a.ExpiresAt); late {
			expireAction(a, now)
			return true
		}
		a.Decision = &hearken.Decision{Allow: req.Allow, By: req.By, From: req.From, Reason: shortLine(req.Reason, 200), At: now}
		if req.Allow {
			a.State = hearken.ActionApproved
		} else {
			failAction(a, hearken.ActionDenied, now, hearken.ActionWasDenied, "the owner said no.")
		}
		return true
	})
	if err != nil || !decided {
		return a, false, err
	}
	q.recordChange(ctx, a)
	if late {
		return a, false, nil
	}
	if req.Allow && req.Grant != nil {
		if _, err := q.Grant(ctx, req.grantFor(a, a.Decision.At)); err != nil {
			return a, true, hearken.Errorf(hearken.CodeOf(err), "The action is approved, but only this once: %w", err)
		}
	}
	return a, true, nil
}

// mayDecide checks whether a decision is allowed, whoever comes first.
func (q *Queue) mayDecide(ctx context.Context, a *hearken.Action, req DecisionRequest) error {
	if req.Digest != a.Digest {
		return hearken.Errorf(hearken.ApprovalMismatch, "This is not the action that was shown.").WithTry("hearken actions list")
	}
	if req.By != "owner" {
		key, err := q.key(ctx, a.Principal)
		if err != nil {
			return err
		}
		if req.By != "client" || key.Approver != hearken.ApproverClient {
			return hearken.Errorf(hearken.Forbidden, "Only the owner may decide about this key's actions.")
		}
		if req.Grant != nil {
			return hearken.Errorf(hearken.Forbidden, "Only the owner may make grants.")
		}
		if fromFarSide(a.Evidence, "") || slices.ContainsFunc(a.Evidence, func(e hearken.Evidence) bool { return e.Overlap }) {
			return hearken.Errorf(hearken.Forbidden, "Only the owner may decide about what the other side of a call may have said.")
		}
	}
	if req.Grant == nil {
		return nil
	}
	if !a.Grantable {
		return hearken.Errorf(hearken.PolicyDenied, "This can be approved only once: messages to people always ask.").
			WithTry("approve it without a grant")
	}
	g := req.grantFor(a, q.cfg.Now())
	return q.checkGrant(ctx, &g) // before anything is approved
}

func (req *DecisionRequest) grantFor(a *hearken.Action, now time.Time) hearken.Grant {
	g := hearken.Grant{Principal: a.Principal, Tool: a.Tool, Target: a.Target, PerDay: req.Grant.PerDay, From: a.ID}
	if req.Grant.For != 0 {
		g.ExpiresAt = now.Add(req.Grant.For).UTC()
	}
	return g
}

// endAction ends an action.
func endAction(a *hearken.Action, state hearken.ActionState, now time.Time) {
	a.State, a.EndedAt, a.RunAt, a.Code, a.Error = state, &now, nil, "", ""
}

// failAction ends an action that did not succeed.
func failAction(a *hearken.Action, state hearken.ActionState, now time.Time, code hearken.Code, message string) {
	endAction(a, state, now)
	a.SetFailure(code, message)
}

// expireAction ends an action that nobody decided about.
func expireAction(a *hearken.Action, now time.Time) {
	failAction(a, hearken.ActionExpired, now, hearken.ApprovalExpired, "nobody decided in time, which means no.")
}

// Withdraw cancels a pending action and leaves any other as it is: whoever
// asked for it has gone.
func (q *Queue) Withdraw(ctx context.Context, principal, id string) (*hearken.Action, error) {
	a, err := q.Action(ctx, id)
	if err == nil && a.Principal != principal {
		err = hearken.Errorf(hearken.NotFound, "There is no action %s of yours.", id)
	}
	if err != nil {
		return nil, err
	}
	return q.cancel(ctx, id, hearken.ActionPending)
}

// cancel cancels an action that is in one of the states.
func (q *Queue) cancel(ctx context.Context, id string, in ...hearken.ActionState) (*hearken.Action, error) {
	a, _, err := q.changeAndRecord(ctx, id, func(a *hearken.Action) bool {
		if !slices.Contains(in, a.State) {
			return false
		}
		failAction(a, hearken.ActionCancelled, q.cfg.Now().UTC(), hearken.ActionWasCancelled, "it was cancelled before it was carried out.")
		a.PendingAudit = hearken.AuditDecided
		return true
	})
	return a, err
}

// Cancel cancels an action that has not run, and undoes one that is done if
// possible. The principal must be the one that asked for it; empty is the
// owner.
func (q *Queue) Cancel(ctx context.Context, principal, id string) (*hearken.Action, error) {
	a, err := q.Action(ctx, id)
	if err == nil && principal != "" && a.Principal != principal {
		err = hearken.Errorf(hearken.NotFound, "There is no action %s of yours.", id)
	}
	if err != nil {
		return nil, err
	}
	if a, err = q.cancel(ctx, id, hearken.ActionPending, hearken.ActionApproved); err != nil {
		return a, err
	}
	if a.State != hearken.ActionDone {
		return a, nil
	}
	return q.undo(ctx, a)
}

// UndoWithin is how long what a grant allowed can be undone without the PIN.
const UndoWithin = day

// UndoGranted undoes what a grant allowed, within a day. It needs no proof that
// the owner asks: nobody confirmed the action either.
func (q *Queue) UndoGranted(ctx context.Context, id string) (*hearken.Action, error) {
	a, err := q.Action(ctx, id)
	if err != nil {
		return nil, err
	}
	if a.Decision == nil || a.Decision.By != "grant" || q.cfg.Now().Sub(a.Decision.At) > UndoWithin {
		return a, hearken.Errorf(hearken.Forbidden, "Without the PIN only what a grant allowed within the last day can be undone.").
			WithTry("hearken actions undo %s", id)
	}
	return q.Cancel(ctx, "", id)
}

// canUndo reports whether what an action did can be undone.
func (q *Queue) canUndo(a *hearken.Action) bool {
	c := q.connector(a)
	if m, ok := c.(mirrored); ok {
		c = m.Connector
	}
	_, ok := c.(hearken.Undoer)
	return ok
}

// undo undoes what an action did.
func (q *Queue) undo(ctx context.Context, a *hearken.Action) (*hearken.Action, error) {
	undoer, ok := q.connector(a).(hearken.Undoer)
	if !ok {
		return a, hearken.Errorf(hearken.ActionCannotBeUndone, "What was sent cannot be undone.")
	}
	if err := q.audit.write(ctx, actionRecord(hearken.AuditUndone, a)); err != nil {
		return a, err
	}
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	if out := undoer.Undo(ctx, a); out.Result != hearken.ResultOK {
		return a, hearken.Errorf(hearken.ActionCannotBeUndone, "It could not be undone: %s", out.Message)
	}
	a, _, err := q.changeAndRecord(ctx, a.ID, func(a *hearken.Action) bool {
		if a.State != hearken.ActionDone {
			return false
		}
		endAction(a, hearken.ActionUndone, q.cfg.Now().UTC())
		a.PendingAudit = hearken.AuditUndone
		return true
	})
	return a, err
}
