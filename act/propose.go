package act

import (
	"context"
	"fmt"
	"slices"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act/evidence"
)

// Local is the principal of programs on the owner's computer. It can be revoked
// like any key.
const Local = "local"

// Propose resolves the arguments of a request, looks for the words behind them,
// and stores an action. The action is approved by a grant, waits for its owner,
// or is denied. A call that means an existing action returns that one.
//
// A request that cannot become an action fails with an [*hearken.Error].
func (q *Queue) Propose(ctx context.Context, req Request) (*hearken.Action, error) {
	a, err := q.propose(ctx, req)
	if code := hearken.CodeOf(err); code != "" && code != hearken.AuditUnavailable {
		if allow, last := q.refusals.Allow(q.cfg.Now()); allow {
			r := hearken.AuditRecord{Type: hearken.AuditRefused, Principal: req.Principal, Tool: req.Tool, Error: string(code)}
			if last {
				r.State = RefusalsOmitted
			}
			q.audit.writeOrQueue(ctx, r)
		}
	}
	return a, err
}

func (q *Queue) propose(ctx context.Context, req Request) (*hearken.Action, error) {
	key, err := q.key(ctx, req.Principal)
	if err != nil {
		return nil, err
	}
	if err := q.Problem(); hearken.CodeOf(err) == hearken.ActionsPaused {
		return nil, err
	}
	a, said, err := q.resolve(ctx, req)
	if err != nil {
		return nil, err
	}
	a.KeyName = key.Name
	release, err := q.holdProposing(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if earlier, err := q.findDuplicate(ctx, req, a); err != nil || earlier != nil {
		return earlier, err
	}
	if err := q.checkPendingLimit(ctx, key); err != nil {
		return nil, err
	}
	if a.Message != nil {
		similar, err := q.similarMessages(ctx, a)
		if err != nil {
			return nil, err
		}
		a.Warnings = append(a.Warnings, similar...)
	}
	if a.Evidence, err = q.evidence(ctx, a, req.Claim, said); err != nil {
		return nil, err
	}
	if err := q.applyPolicy(ctx, a, key); err != nil {
		return nil, err
	}
	if a.State == hearken.ActionPending {
		q.collect(a)
	}
	if err := q.audit.write(ctx, proposalRecord(a)); err != nil {
		return nil, err
	}
	if a.Decision != nil {
		a.PendingAudit = hearken.AuditDecided
	}
	defer q.reserve(a.ID)()                                   // so that its decision is in the audit before it runs
	if _, err := q.cfg.Store.SaveAction(ctx, a); err != nil { // a new id has no rival
		return nil, hearken.Errorf(hearken.RepositoryError, "The action could not be saved: %w.", err)
	}
	if a.Decision != nil {
		q.recordChange(ctx, a)
	}
	q.changed()
	if a.State == hearken.ActionPending && a.Call == "" { // otherwise the worker tells, in time
		q.notify(pendingNotice(a))
	}
	return a, nil
}

// holdProposing keeps everybody else from proposing until release is called.
func (q *Queue) holdProposing(ctx context.Context) (release func(), err error) {
	select {
	case q.proposing <- struct{}{}:
		return func() { <-q.proposing }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for another action to be proposed: %w", ctx.Err())
	}
}

// key returns a key that may act.
func (q *Queue) key(ctx context.Context, principal string) (*hearken.Key, error) {
	keys, err := q.cfg.Store.Keys(ctx)
	if err != nil {
		return nil, hearken.Errorf(hearken.RepositoryError, "The keys cannot be read: %w.", err)
	}
	i := slices.IndexFunc(keys, func(k hearken.Key) bool { return k.ID == principal })
	if i < 0 && principal == Local {
		return &hearken.Key{ID: Local, Name: Local}, nil
	}
	if i < 0 || keys[i].RevokedAt != nil {
		return nil, hearken.Errorf(hearken.Unauthorized, "Invalid API key").WithTry("hearken keys list")
	}
	return &keys[i], nil
}

// findDuplicate returns the existing action that a call means, nil if there is
// none. An action that surely did not happen may be requested again.
func (q *Queue) findDuplicate(ctx context.Context, req Request, a *hearken.Action) (*hearken.Action, error) {
	f := hearken.ActionFilter{Principal: a.Principal, IdempotencyKey: a.IdempotencyKey, Limit: 1}
	if req.IdempotencyKey == "" {
		f.Since = a.CreatedAt.Add(-duplicateWindow)
	}
	found, err := q.cfg.Store.Actions(ctx, f)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	old := &found[0]
	if old.Digest != a.Digest {
		return nil, hearken.Errorf(hearken.ApprovalMismatch, "This idempotency_key was used for another action, %s.", old.ID).
			WithTry("a new idempotency_key for different arguments")
	}
	switch old.State {
	case hearken.ActionFailed, hearken.ActionCancelled, hearken.ActionUndone:
		if req.IdempotencyKey == "" {
			return nil, nil
		}
	}
	return old, nil
}

// checkPendingLimit refuses a key that has too many pending actions: a person
// who is flooded with questions stops reading them.
func (q *Queue) checkPendingLimit(ctx context.Context, key *hearken.Key) error {
	waiting, err := q.cfg.Store.Actions(ctx, hearken.ActionFilter{
		Principal: key.ID, States: []hearken.ActionState{hearken.ActionPending}, Limit: maxPendingPerKey,
	})
	if err != nil {
		return err
	}
	if len(waiting) >= maxPendingPerKey {
		return hearken.Errorf(hearken.DailyLimit, "%d actions of this key already wait for the owner.", len(waiting)).
			WithTry("again when the owner has decided some of them")
	}
	return nil
}

// evidence looks for what was said about the sensitive arguments.
func (q *Queue) evidence(ctx context.Context, a *hearken.Action, claim *evidence.Claim, said []evidence.Arg) ([]hearken.Evidence, error) {
	if q.finder == nil {
		var none []hearken.Evidence
		for _, arg := range said {
			none = append(none, hearken.Evidence{Arg: arg.Name})
		}
		return none, nil
	}
	return q.finder.Find(ctx, evidence.Query{Now: a.CreatedAt, Args: said, Claim: claim})
}
