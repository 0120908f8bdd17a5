package act

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
)

// Decide takes somebody's decision about an action that waits for it. Of
// several, also at the same time, the first counts: decided tells whether it
// was this one.
func (d *Queue) Decide(ctx context.Context, v Verdict) (a *hearken.Action, decided bool, err error) {
	if a, err = d.Action(ctx, v.ID); err != nil {
		return nil, false, err
	}
	if err := d.mayDecide(ctx, a, v); err != nil {
		return a, false, err
	}
	defer d.hold(v.ID)()
	var late bool
	a, decided, err = d.update(ctx, v.ID, func(a *hearken.Action) bool {
		if a.State != hearken.ActionPending {
			return false
		}
		now := d.cfg.Now().UTC()
		a.PendingAudit = hearken.AuditDecided
		if late = !now.Before(a.ExpiresAt); late {
			end(a, hearken.ActionExpired, now, "approval_expired: nobody decided in time, which means no.")
			return true
		}
		a.Decision = &hearken.Decision{Allow: v.Allow, By: v.By, From: v.From, Reason: clean(v.Reason, 200), At: now}
		if v.Allow {
			a.State = hearken.ActionApproved
		} else {
			end(a, hearken.ActionDenied, now, "denied: the owner said no.")
		}
		return true
	})
	if err != nil || !decided {
		return a, false, err
	}
	d.settle(ctx, a)
	if late {
		return a, false, nil
	}
	if v.Allow && v.Grant != nil {
		if _, err := d.Grant(ctx, v.grantFor(a, a.Decision.At)); err != nil {
			return a, true, hearken.Errorf(hearken.CodeOf(err), "It is allowed, but only this once: %w", err)
		}
	}
	return a, true, nil
}

// mayDecide checks a verdict before it is looked at whether it comes first.
func (d *Queue) mayDecide(ctx context.Context, a *hearken.Action, v Verdict) error {
	if v.Digest != a.Digest {
		return hearken.Errorf(hearken.ApprovalMismatch, "This is not the action that was shown.").WithTry("hearken actions list")
	}
	if v.By != "owner" {
		key, err := d.key(ctx, a.Principal)
		if err != nil {
			return err
		}
		if v.By != "client" || key.Approver != hearken.ApproverClient {
			return hearken.Errorf(hearken.Forbidden, "Only the owner decides about what this key asks for.")
		}
		if v.Grant != nil {
			return hearken.Errorf(hearken.Forbidden, "Only the owner makes grants.")
		}
		if farSaid(a.Evidence, "") {
			return hearken.Errorf(hearken.Forbidden, "Only the owner decides about what the other side of a call said.")
		}
	}
	if v.Grant == nil {
		return nil
	}
	if !a.Grantable {
		return hearken.Errorf(hearken.PolicyDenied, "This can be allowed once only; its cautions say why.")
	}
	g := v.grantFor(a, d.cfg.Now())
	return d.bound(ctx, &g) // before anything is allowed
}

func (v *Verdict) grantFor(a *hearken.Action, now time.Time) hearken.Grant {
	g := hearken.Grant{Principal: a.Principal, Tool: a.Tool, Target: a.Target, PerDay: v.Grant.PerDay, From: a.ID}
	if v.Grant.For != 0 {
		g.ExpiresAt = now.Add(v.Grant.For).UTC()
	}
	return g
}

// end marks the end of an action.
func end(a *hearken.Action, state hearken.ActionState, now time.Time, why string) {
	a.State, a.EndedAt, a.RunAt, a.Error = state, &now, nil, why
}

// The bounds of grants.
const (
	defaultGrant   = 24 * time.Hour
	longestGrant   = 366 * day
	longestMessage = 30 * day // there is no "for ever" for writing to people
	defaultPerDay  = 20
	mostPerDay     = 1000
)

// Grant makes a grant within the bounds of all grants.
func (d *Queue) Grant(ctx context.Context, g hearken.Grant) (*hearken.Grant, error) {
	if err := d.bound(ctx, &g); err != nil {
		return nil, err
	}
	g.ID, g.CreatedAt = "grn_"+strings.ToLower(rand.Text()[:16]), d.cfg.Now().UTC()
	if err := d.ledger.write(ctx, grantRecord(&g, "made")); err != nil {
		return nil, err
	}
	if err := d.cfg.Store.SaveGrant(ctx, &g); err != nil {
		return nil, hearken.Errorf(hearken.RepositoryError, "The grant could not be kept: %w.", err)
	}
	d.changed()
	return &g, nil
}

// bound fills in a grant's bounds, and refuses what is beyond those of all
// grants.
func (d *Queue) bound(ctx context.Context, g *hearken.Grant) error {
	now := d.cfg.Now().UTC()
	g.Tool, g.Target = strings.ReplaceAll(g.Tool, "_", "."), strings.ToLower(strings.TrimSpace(g.Target))
	if g.ExpiresAt.IsZero() {
		g.ExpiresAt = now.Add(defaultGrant)
	}
	if g.PerDay == 0 {
		g.PerDay = defaultPerDay
	}
	longest := longestGrant
	if g.Tool == hearken.MessageSend {
		longest = longestMessage
	}
	tools := []string{hearken.CalendarCreate, hearken.MessageSend, hearken.ReminderCreate}
	switch {
	case !slices.Contains(tools, g.Tool):
		return hearken.Errorf(hearken.Invalid, "There is no tool %q that acts.", g.Tool).WithTry("one of %s", strings.Join(tools, ", "))
	case !d.reaches(g):
		return hearken.Errorf(hearken.Invalid, "%s reaches nothing that %.80q names.", g.Tool, g.Target).
			WithTry("%s", strings.Join(d.targets(g.Tool), ", "))
	case g.PerDay < 1 || g.PerDay > mostPerDay:
		return hearken.Errorf(hearken.Invalid, "A grant allows 1 to %d actions a day, not %d.", mostPerDay, g.PerDay)
	case !g.ExpiresAt.After(now) || g.ExpiresAt.Sub(now) > longest+time.Minute:
		return hearken.Errorf(hearken.Invalid, "A grant for %s ends within %d days.", g.Tool, int(longest/day))
	}
	if _, err := d.key(ctx, g.Principal); err != nil {
		return hearken.Errorf(hearken.NotFound, "There is no good key %.60q.", g.Principal).WithTry("hearken keys list")
	}
	return nil
}

// reaches reports whether a grant could ever cover anything.
func (d *Queue) reaches(g *hearken.Grant) bool {
	platform, address, ok := strings.Cut(g.Target, ":")
	return slices.ContainsFunc(d.connectors(g.Tool), func(c hearken.Connector) bool {
		if g.Tool == hearken.MessageSend {
			return ok && c.Name() == platform && address != ""
		}
		return c.Name() == g.Target
	})
}

// targets are examples of what a grant for a tool may name.
func (d *Queue) targets(tool string) []string {
	var out []string
	for _, c := range d.connectors(tool) {
		name := c.Name()
		if tool == hearken.MessageSend {
			name += ":ADDRESS"
		}
		out = append(out, name)
	}
	if out == nil {
		return []string{"a connector that is set up; see docs/actions.md"}
	}
	return out
}

// Grants lists all grants, revoked and ended ones included.
func (d *Queue) Grants(ctx context.Context) ([]hearken.Grant, error) { return d.cfg.Store.Grants(ctx) }

// RevokeGrant ends a grant, also for what it has approved and is not yet
// being carried out.
func (d *Queue) RevokeGrant(ctx context.Context, id string) (*hearken.Grant, error) {
	grants, err := d.cfg.Store.Grants(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(grants, func(g hearken.Grant) bool { return g.ID == id })
	if i < 0 {
		return nil, hearken.Errorf(hearken.NotFound, "There is no grant %.60q.", id).WithTry("hearken grants list")
	}
	g := &grants[i]
	if g.RevokedAt != nil {
		return g, nil
	}
	now := d.cfg.Now().UTC()
	g.RevokedAt = &now
	d.gate.Lock() // nothing is claimed under it from here on
	err = d.cfg.Store.SaveGrant(ctx, g)
	d.gate.Unlock()
	if err != nil {
		return nil, hearken.Errorf(hearken.RepositoryError, "The grant could not be revoked: %w.", err)
	}
	d.ledger.note(ctx, grantRecord(g, "revoked"))
	d.changed()
	return g, nil
}

func grantRecord(g *hearken.Grant, state string) hearken.AuditRecord {
	return hearken.AuditRecord{
		Type: hearken.AuditGrant, Grant: g.ID, Principal: g.Principal, Tool: g.Tool, Target: g.Target,
		State: state, By: "owner", From: g.From, When: &g.ExpiresAt,
	}
}

// Withdraw ends an action that waits for its owner, and leaves every other as
// it is: whoever asked for it has gone.
func (d *Queue) Withdraw(ctx context.Context, principal, id string) (*hearken.Action, error) {
	a, err := d.Action(ctx, id)
	if err == nil && a.Principal != principal {
		err = hearken.Errorf(hearken.NotFound, "There is no action %s of yours.", id)
	}
	if err != nil {
		return nil, err
	}
	return d.cancel(ctx, id, hearken.ActionPending)
}

// cancel ends an action that is in one of the states.
func (d *Queue) cancel(ctx context.Context, id string, in ...hearken.ActionState) (*hearken.Action, error) {
	a, changed, err := d.update(ctx, id, func(a *hearken.Action) bool {
		if !slices.Contains(in, a.State) {
			return false
		}
		end(a, hearken.ActionCancelled, d.cfg.Now().UTC(), "cancelled: it was taken back before it was carried out.")
		a.PendingAudit = hearken.AuditDecided
		return true
	})
	if changed {
		d.settle(ctx, a)
	}
	return a, err
}

// Cancel ends an action that waits, and takes back one that is done where its
// effect can be taken back. The principal must be the one that asked for it;
// empty is the owner.
func (d *Queue) Cancel(ctx context.Context, principal, id string) (*hearken.Action, error) {
	a, err := d.Action(ctx, id)
	if err == nil && principal != "" && a.Principal != principal {
		err = hearken.Errorf(hearken.NotFound, "There is no action %s of yours.", id)
	}
	if err != nil {
		return nil, err
	}
	if a, err = d.cancel(ctx, id, hearken.ActionPending, hearken.ActionApproved); err != nil {
		return a, err
	}
	if a.State != hearken.ActionDone {
		return a, nil
	}
	return d.undo(ctx, a)
}

// undo takes back what an action did.
func (d *Queue) undo(ctx context.Context, a *hearken.Action) (*hearken.Action, error) {
	undoer, ok := d.connector(a).(hearken.Undoer)
	if !ok {
		return a, hearken.Errorf(hearken.ActionCannotBeUndone, "What was sent cannot be taken back.")
	}
	if err := d.ledger.write(ctx, record(hearken.AuditUndone, a)); err != nil {
		return a, err
	}
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	if out := undoer.Undo(ctx, a); out.Result != hearken.ResultOK {
		return a, hearken.Errorf(hearken.ActionCannotBeUndone, "It could not be taken back: %s", out.Message)
	}
	a, _, err := d.update(ctx, a.ID, func(a *hearken.Action) bool {
		if a.State != hearken.ActionDone {
			return false
		}
		end(a, hearken.ActionUndone, d.cfg.Now().UTC(), "")
		a.PendingAudit = hearken.AuditUndone
		return true
	})
	if err == nil && a.PendingAudit != "" {
		d.settle(ctx, a)
	}
	return a, err
}

// disown takes back all that an earlier owner allowed.
func (d *Queue) disown(ctx context.Context) error {
	grants, err := d.cfg.Store.Grants(ctx)
	if err != nil {
		return err
	}
	for _, g := range grants {
		if _, err := d.RevokeGrant(ctx, g.ID); err != nil {
			return err
		}
	}
	waiting, err := d.cfg.Store.Actions(ctx, hearken.ActionFilter{States: []hearken.ActionState{hearken.ActionPending, hearken.ActionApproved}})
	if err != nil {
		return err
	}
	for i := range waiting {
		if _, err := d.cancel(ctx, waiting[i].ID, hearken.ActionPending, hearken.ActionApproved); err != nil {
			return err
		}
	}
	if len(grants)+len(waiting) > 0 {
		d.log.Warn("the owner is another; grants are revoked and what waits is cancelled")
	}
	return nil
}
