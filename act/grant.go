package act

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
)

// The limits of grants.
const (
	defaultGrant        = 24 * time.Hour
	longestGrant        = 366 * day
	longestMessageGrant = 30 * day
	defaultPerDay       = 20
	maxPerDay           = 1000
)

// Grant creates a grant within the limits of all grants.
func (q *Queue) Grant(ctx context.Context, g hearken.Grant) (*hearken.Grant, error) {
	if err := q.checkGrant(ctx, &g); err != nil {
		return nil, err
	}
	g.ID, g.CreatedAt = "grn_"+strings.ToLower(rand.Text()[:16]), q.cfg.Now().UTC()
	if err := q.audit.write(ctx, grantRecord(&g, "made")); err != nil {
		return nil, err
	}
	if err := q.cfg.Store.SaveGrant(ctx, &g); err != nil {
		return nil, hearken.Errorf(hearken.RepositoryError, "The grant could not be saved: %w.", err)
	}
	q.changed()
	return &g, nil
}

// checkGrant fills in the defaults of a grant and refuses one beyond the
// limits.
func (q *Queue) checkGrant(ctx context.Context, g *hearken.Grant) error {
	now := q.cfg.Now().UTC()
	g.Tool, g.Target = strings.ReplaceAll(g.Tool, "_", "."), strings.ToLower(strings.TrimSpace(g.Target))
	if g.ExpiresAt.IsZero() {
		g.ExpiresAt = now.Add(defaultGrant)
	}
	g.PerDay = cmp.Or(g.PerDay, defaultPerDay)
	longest := longestGrant
	if g.Tool == hearken.MessageSend {
		longest = longestMessageGrant
	}
	tools := []string{hearken.CalendarCreate, hearken.MessageSend, hearken.ReminderCreate}
	switch {
	case !slices.Contains(tools, g.Tool):
		return hearken.Errorf(hearken.Invalid, "There is no action %q.", g.Tool).WithTry("one of %s", strings.Join(tools, ", "))
	case !q.targetExists(g):
		return hearken.Errorf(hearken.Invalid, "%s has no target %.80q.", g.Tool, g.Target).
			WithTry("%s", strings.Join(q.exampleTargets(g.Tool), ", "))
	case g.PerDay < 1 || g.PerDay > maxPerDay:
		return hearken.Errorf(hearken.Invalid, "A grant allows 1 to %d actions a day, not %d.", maxPerDay, g.PerDay)
	case !g.ExpiresAt.After(now) || g.ExpiresAt.Sub(now) > longest+time.Minute:
		return hearken.Errorf(hearken.Invalid, "A grant for %s may last at most %d days.", g.Tool, int(longest/day))
	}
	if g.Tool == hearken.MessageSend {
		platform, address, _ := strings.Cut(g.Target, ":")
		own, err := q.book.IsOwn(ctx, platform, address)
		if err != nil {
			return err
		}
		if !own {
			return hearken.Errorf(hearken.PolicyDenied, "Messages to people always ask. A grant can cover only your own addresses, and %.80q is not one.", address).
				WithTry("one of %s; hearken contacts import FILE.vcf --me NAME says which addresses are yours", strings.Join(q.exampleTargets(g.Tool), ", "))
		}
	}
	if _, err := q.key(ctx, g.Principal); err != nil {
		return hearken.Errorf(hearken.NotFound, "There is no valid key %.60q.", g.Principal).WithTry("hearken keys list")
	}
	return nil
}

// targetExists reports whether the grant could ever cover anything.
func (q *Queue) targetExists(g *hearken.Grant) bool {
	platform, address, ok := strings.Cut(g.Target, ":")
	return slices.ContainsFunc(q.connectors(g.Tool), func(c hearken.Connector) bool {
		if g.Tool == hearken.MessageSend {
			return ok && c.Name() == platform && address != ""
		}
		return c.Name() == g.Target
	})
}

// exampleTargets are examples of what a grant for a tool may name.
func (q *Queue) exampleTargets(tool string) []string {
	var out []string
	for _, c := range q.connectors(tool) {
		name := c.Name()
		if single, ok := c.(hearken.SingleTarget); ok {
			name += ":" + single.Target()
		} else if tool == hearken.MessageSend {
			name += ":ADDRESS"
		}
		out = append(out, name)
	}
	if out == nil {
		return []string{"set up a connector first; see docs/actions.md"}
	}
	return out
}

// Grants lists all grants, including revoked and expired ones.
func (q *Queue) Grants(ctx context.Context) ([]hearken.Grant, error) { return q.cfg.Store.Grants(ctx) }

// WhyGrantsAreOff says why no grant applies to a key now, as part of a sentence.
// It is empty if the key's grants apply.
func (q *Queue) WhyGrantsAreOff(ctx context.Context, principal string) (string, error) {
	key, err := q.key(ctx, principal)
	if err != nil {
		return "", err
	}
	return q.cfg.Exposure.whyExposed(key), nil
}

// RevokeGrant revokes a grant, also for actions that it approved and that have
// not started.
func (q *Queue) RevokeGrant(ctx context.Context, id string) (*hearken.Grant, error) {
	return q.revokeGrant(ctx, id, "owner")
}

func (q *Queue) revokeGrant(ctx context.Context, id, by string) (*hearken.Grant, error) {
	grants, err := q.cfg.Store.Grants(ctx)
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
	now := q.cfg.Now().UTC()
	g.RevokedAt = &now
	q.gate.Lock() // from here on nothing is claimed under this grant
	err = q.cfg.Store.SaveGrant(ctx, g)
	q.gate.Unlock()
	if err != nil {
		return nil, hearken.Errorf(hearken.RepositoryError, "The grant could not be revoked: %w.", err)
	}
	r := grantRecord(g, "revoked")
	r.By = by
	q.audit.writeOrQueue(ctx, r)
	q.changed()
	return g, nil
}

func grantRecord(g *hearken.Grant, state string) hearken.AuditRecord {
	return hearken.AuditRecord{
		Type: hearken.AuditGrant, Grant: g.ID, Principal: g.Principal, Tool: g.Tool, Target: g.Target,
		State: state, By: "owner", From: g.From, When: &g.ExpiresAt,
	}
}

// revokeMessageGrants revokes the grants that earlier versions allowed for
// messages to people.
func (q *Queue) revokeMessageGrants(ctx context.Context) error {
	grants, err := q.cfg.Store.Grants(ctx)
	if err != nil {
		return err
	}
	n := 0
	for i := range grants {
		g := &grants[i]
		if g.Tool != hearken.MessageSend || !isValidGrant(g, q.cfg.Now()) {
			continue
		}
		platform, address, _ := strings.Cut(g.Target, ":")
		own, err := q.book.IsOwn(ctx, platform, address)
		if err != nil {
			return err
		}
		if own {
			continue
		}
		if _, err := q.revokeGrant(ctx, g.ID, "policy"); err != nil {
			return err
		}
		n++
	}
	if n > 0 {
		q.log.Warn("grants for messages are revoked; messages to people always ask", "count", n)
		q.notify(revokedNotice(n))
	}
	return nil
}

// revokePreviousOwner revokes all that an earlier owner allowed.
func (q *Queue) revokePreviousOwner(ctx context.Context) error {
	grants, err := q.cfg.Store.Grants(ctx)
	if err != nil {
		return err
	}
	for _, g := range grants {
		if _, err := q.revokeGrant(ctx, g.ID, "policy"); err != nil {
			return err
		}
	}
	waiting, err := q.cfg.Store.Actions(ctx, hearken.ActionFilter{States: []hearken.ActionState{hearken.ActionPending, hearken.ActionApproved}})
	if err != nil {
		return err
	}
	for i := range waiting {
		if _, err := q.cancel(ctx, waiting[i].ID, hearken.ActionPending, hearken.ActionApproved); err != nil {
			return err
		}
	}
	if len(grants)+len(waiting) > 0 {
		q.log.Warn("the owner has changed; grants are revoked and open actions are cancelled")
	}
	return nil
}
