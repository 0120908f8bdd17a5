package act

import (
	"context"
	"slices"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act/evidence"
)

// Local is the built-in key of the owner's own processes. It is revoked like
// any other.
const Local = "local"

// Propose takes an agent's wish: it resolves the arguments, looks for the
// words behind them, and stores an action that is covered by a grant, waits
// for its owner, or is denied. A call that means an action that is there
// already returns that one.
//
// What cannot even be an action is an [*hearken.Error].
func (d *Queue) Propose(ctx context.Context, req Request) (*hearken.Action, error) {
	a, err := d.propose(ctx, req)
	if code := hearken.CodeOf(err); code != "" && code != hearken.AuditUnavailable {
		if pass, last := d.refusals.Pass(d.cfg.Now()); pass {
			r := hearken.AuditRecord{Type: hearken.AuditRefused, Principal: req.Principal, Tool: req.Tool, Error: string(code)}
			if last {
				r.State = RefusalsOmitted
			}
			d.ledger.note(ctx, r)
		}
	}
	return a, err
}

func (d *Queue) propose(ctx context.Context, req Request) (*hearken.Action, error) {
	key, err := d.key(ctx, req.Principal)
	if err != nil {
		return nil, err
	}
	if err := d.Problem(); hearken.CodeOf(err) == hearken.ActionsPaused {
		return nil, err
	}
	a, said, err := d.resolve(ctx, req)
	if err != nil {
		return nil, err
	}
	a.KeyName = key.Name
	d.proposing.Lock()
	defer d.proposing.Unlock()
	if earlier, err := d.earlier(ctx, req, a); err != nil || earlier != nil {
		return earlier, err
	}
	if err := d.room(ctx, key); err != nil {
		return nil, err
	}
	found, err := d.evidence(ctx, a, req.Claim, said)
	if err != nil {
		return nil, err
	}
	if err := d.judge(ctx, a, found); err != nil {
		return nil, err
	}
	if err := d.ledger.write(ctx, proposal(a)); err != nil {
		return nil, err
	}
	if a.Decision != nil {
		a.PendingAudit = hearken.AuditDecided
	}
	defer d.hold(a.ID)()
	if _, err := d.cfg.Store.SaveAction(ctx, a); err != nil { // a new id has no rival
		return nil, hearken.Errorf(hearken.RepositoryError, "The action could not be kept: %w.", err)
	}
	if a.Decision != nil {
		d.settle(ctx, a)
	}
	d.changed()
	if a.State == hearken.ActionPending && d.cfg.OnPending != nil {
		d.cfg.OnPending(a)
	}
	return a, nil
}

// key finds a key that may act.
func (d *Queue) key(ctx context.Context, principal string) (*hearken.Key, error) {
	keys, err := d.cfg.Store.Keys(ctx)
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

// earlier finds the action that a call means, if it is there already. An
// action that surely did not happen may be asked for again.
func (d *Queue) earlier(ctx context.Context, req Request, a *hearken.Action) (*hearken.Action, error) {
	f := hearken.ActionFilter{Principal: a.Principal, IdempotencyKey: a.IdempotencyKey, Limit: 1}
	if req.IdempotencyKey == "" {
		f.Since = a.CreatedAt.Add(-sameWithin)
	}
	found, err := d.cfg.Store.Actions(ctx, f)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	old := &found[0]
	if old.Digest != a.Digest {
		return nil, hearken.Errorf(hearken.ApprovalMismatch, "This idempotency_key stands for another action, %s.", old.ID).
			WithTry("a new idempotency_key for other arguments")
	}
	switch old.State {
	case hearken.ActionFailed, hearken.ActionCancelled, hearken.ActionUndone:
		if req.IdempotencyKey == "" {
			return nil, nil
		}
	}
	return old, nil
}

// room refuses a key that has too much waiting already: a person who is
// flooded with questions stops reading them.
func (d *Queue) room(ctx context.Context, key *hearken.Key) error {
	waiting, err := d.cfg.Store.Actions(ctx, hearken.ActionFilter{
		Principal: key.ID, States: []hearken.ActionState{hearken.ActionPending}, Limit: maxWaiting,
	})
	if err != nil {
		return err
	}
	if len(waiting) >= maxWaiting {
		return hearken.Errorf(hearken.DailyLimit, "%d actions of this key wait for their owner already.", len(waiting)).
			WithTry("again when some of them are decided")
	}
	return nil
}

// evidence looks for what was said about the sensitive arguments.
func (d *Queue) evidence(ctx context.Context, a *hearken.Action, claim *evidence.Claim, said []evidence.Arg) (evidence.Finding, error) {
	if d.finder == nil {
		var none evidence.Finding
		for _, arg := range said {
			none.Evidence = append(none.Evidence, hearken.Evidence{Arg: arg.Name})
		}
		return none, nil
	}
	return d.finder.Find(ctx, evidence.Query{
		Tool: a.Tool, Now: a.CreatedAt, Args: said, Claim: claim, Repeats: a.Reminder != nil && a.Reminder.Repeat != "",
	})
}
