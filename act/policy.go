package act

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
)

// day is the time over which a grant's uses are counted.
const day = 24 * time.Hour

// applyPolicy decides what needs no person: it denies what is never allowed and
// approves what a grant covers. All else stays pending.
//
// What was said decides nothing here but one refusal. What may happen without a
// person depends on the risk alone, and on how long the key has been away from
// other people's words.
func (q *Queue) applyPolicy(ctx context.Context, a *hearken.Action, key *hearken.Key) error {
	a.Warnings = slices.Concat(warnings(a.Evidence), a.Warnings)
	a.Grantable = q.isGrantable(a)
	if m := a.Message; m != nil && !m.Known && !m.Own && !q.cfg.FarRecipients && fromFarSide(a.Evidence, "to") {
		a.State, a.EndedAt = hearken.ActionDenied, &a.CreatedAt
		a.SetFailure(hearken.PolicyDenied, "only the other side of the call named this recipient, who is not in the contact book.")
		a.Decision = &hearken.Decision{By: "policy", From: "policy", At: a.CreatedAt}
		return nil
	}
	grant, err := q.findGrant(ctx, a, key)
	if err != nil || grant == nil {
		return err
	}
	a.State = hearken.ActionApproved
	a.Decision = &hearken.Decision{Allow: true, By: "grant", From: "grant", Grant: grant.ID, At: a.CreatedAt}
	if a.Message != nil && q.cfg.Delay > 0 {
		at := a.CreatedAt.Add(q.cfg.Delay)
		a.RunAt = &at
	}
	return nil
}

// isGrantable reports whether a grant may cover an action: it reaches nobody but
// the owner, and can be undone unless it is a message. A message to anybody else
// always asks.
func (q *Queue) isGrantable(a *hearken.Action) bool {
	if a.Message != nil {
		return a.Message.Own
	}
	return q.canUndo(a)
}

// fromFarSide reports whether an argument, or any if arg is empty, comes from
// the other side.
func fromFarSide(said []hearken.Evidence, arg string) bool {
	return slices.ContainsFunc(said, func(e hearken.Evidence) bool {
		return (arg == "" || e.Arg == arg) && (e.Source == hearken.System || e.Echo)
	})
}

// findGrant returns a grant that covers an action, nil if there is none. If one
// does but must not be used now, a warning says why.
func (q *Queue) findGrant(ctx context.Context, a *hearken.Action, key *hearken.Key) (*hearken.Grant, error) {
	if !a.Grantable {
		return nil, nil
	}
	grants, err := q.cfg.Store.Grants(ctx)
	if err != nil {
		return nil, err
	}
	for i := range grants {
		g := &grants[i]
		if g.Principal != a.Principal || g.Tool != a.Tool || g.Target != a.Target || !isValidGrant(g, a.CreatedAt) {
			continue
		}
		used, err := q.cfg.Store.Actions(ctx, hearken.ActionFilter{Grant: g.ID, Since: a.CreatedAt.Add(-day), Limit: g.PerDay})
		if err != nil {
			return nil, err
		}
		if len(used) >= g.PerDay {
			a.Warnings = append(a.Warnings, fmt.Sprintf("The grant %s has reached its limit of %d a day.", g.ID, g.PerDay))
			continue
		}
		if why := q.cfg.Exposure.whyExposed(key); why != "" {
			a.Warnings = append(a.Warnings, offWarning(why))
			return nil, nil
		}
		return g, nil
	}
	return nil, nil
}

// offWarning tells the decider why a grant does not apply.
func offWarning(why string) string {
	return fmt.Sprintf("A grant covers this, but %s, so you are asked.", why)
}

func isValidGrant(g *hearken.Grant, now time.Time) bool {
	return g.RevokedAt == nil && now.Before(g.ExpiresAt)
}
