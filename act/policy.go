package act

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
)

// day is the time for which a grant's uses are counted.
const day = 24 * time.Hour

// judge decides what can be decided without a person: it denies what is never
// done, and approves what a grant covers. All else stays pending.
func (d *Desk) judge(ctx context.Context, a *hearken.Action) error {
	a.Cautions = append(warnings(a.Evidence), a.Cautions...)
	a.Grantable = onlyThisSide(a.Evidence)
	if m := a.Message; m != nil && !m.Known && !d.cfg.FarRecipients && farSaid(a.Evidence, "to") {
		return d.refuse(a, "policy_denied: only the other side of the call named this recipient, who is not in the contact book.")
	}
	grant, err := d.covering(ctx, a)
	if err != nil || grant == nil {
		return err
	}
	a.State = hearken.ActionApproved
	a.Decision = &hearken.Decision{Allow: true, By: "grant", From: "grant", Grant: grant.ID, At: a.CreatedAt}
	if a.Message != nil && d.cfg.Delay > 0 {
		at := a.CreatedAt.Add(d.cfg.Delay)
		a.RunAt = &at
	}
	return nil
}

// refuse denies an action by the house's own rules.
func (d *Desk) refuse(a *hearken.Action, reason string) error {
	a.State, a.Error = hearken.ActionDenied, reason
	a.Decision = &hearken.Decision{By: "policy", From: "policy", At: a.CreatedAt}
	a.EndedAt = &a.CreatedAt
	return nil
}

// onlyThisSide reports whether all that matters was said on this side.
func onlyThisSide(said []hearken.Evidence) bool {
	for _, e := range said {
		if e.Source != hearken.Microphone || e.Echo {
			return false
		}
	}
	return len(said) > 0
}

// farSaid reports whether an argument, or any if none is named, comes from the
// far side.
func farSaid(said []hearken.Evidence, arg string) bool {
	for _, e := range said {
		if (arg == "" || e.Arg == arg) && (e.Source == hearken.System || e.Echo) {
			return true
		}
	}
	return false
}

// warnings tell who decides where the words came from.
func warnings(said []hearken.Evidence) []string {
	var out []string
	for _, e := range said {
		switch {
		case e.Echo:
			out = append(out, fmt.Sprintf("The words for %q are an echo of the other side of the call.", e.Arg))
		case e.Source == hearken.System:
			out = append(out, fmt.Sprintf("The words for %q came from the other side of the call.", e.Arg))
		case e.Source == "":
			out = append(out, fmt.Sprintf("Nobody was heard saying %q.", e.Arg))
		}
	}
	return out
}

// covering finds a grant that covers an action.
func (d *Desk) covering(ctx context.Context, a *hearken.Action) (*hearken.Grant, error) {
	if !a.Grantable || delicate(a) {
		return nil, nil
	}
	grants, err := d.cfg.Store.Grants(ctx)
	if err != nil {
		return nil, err
	}
	for i := range grants {
		g := &grants[i]
		if g.Principal != a.Principal || g.Tool != a.Tool || g.Target != a.Target || !good(g, a.CreatedAt) {
			continue
		}
		used, err := d.cfg.Store.Actions(ctx, hearken.ActionFilter{Grant: g.ID, Since: a.CreatedAt.Add(-day), Limit: g.PerDay})
		if err != nil {
			return nil, err
		}
		if len(used) < g.PerDay {
			return g, nil
		}
		a.Cautions = append(a.Cautions, fmt.Sprintf("The grant %s was used %d times within a day, which is all it allows.", g.ID, g.PerDay))
	}
	return nil, nil
}

func good(g *hearken.Grant, now time.Time) bool {
	return g.RevokedAt == nil && now.Before(g.ExpiresAt)
}

// secretly is what looks like an address of a page, a number of a card or
// account, or a key. A grant to write to somebody is none to send these.
var secretly = regexp.MustCompile(`(?i)://|\bwww\.|[0-9](?:[ -]?[0-9]){11,}|\b(?:[a-z]+[0-9]|[0-9]+[a-z])[a-z0-9_-]{14,}|pass(?:word|wort|code)|\bpin\b|\bcvv\b|パスワード|暗証番号|senha|contraseña`)

// delicate reports whether an action holds what is always asked about.
func delicate(a *hearken.Action) bool {
	if m := a.Message; m != nil {
		return secretly.MatchString(m.Text)
	}
	if e := a.Appointment; e != nil {
		return strings.Contains(e.Description, "://") || strings.Contains(e.Location, "://")
	}
	return false
}
