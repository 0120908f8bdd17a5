package act

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act/evidence"
)

// day is the time for which a grant's uses are counted.
const day = 24 * time.Hour

// judge decides what can be decided without a person: it denies what is never
// done, and approves what a grant covers. All else stays pending.
func (d *Queue) judge(ctx context.Context, a *hearken.Action, found evidence.Finding) error {
	a.Evidence = found.Evidence
	a.Warnings = slices.Concat(warnings(a.Evidence), found.Doubts, a.Warnings)
	a.Grantable = onlyThisSide(a.Evidence) && len(found.Doubts) == 0
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
func (d *Queue) refuse(a *hearken.Action, reason string) error {
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
			out = append(out, fmt.Sprintf("The words for the %s are an echo of the other side of the call.", argName(e.Arg)))
		case e.Source == hearken.System:
			out = append(out, fmt.Sprintf("The words for the %s came from the other side of the call.", argName(e.Arg)))
		case e.Source == "":
			out = append(out, fmt.Sprintf("Nobody was heard saying the %s.", argName(e.Arg)))
		}
	}
	return out
}

// argName is how people call an argument.
func argName(arg string) string {
	if arg == "to" {
		return "recipient"
	}
	return arg
}

// covering finds a grant that covers an action.
func (d *Queue) covering(ctx context.Context, a *hearken.Action) (*hearken.Grant, error) {
	if !a.Grantable || delicate(a) {
		return nil, nil
	}
	if again, err := d.again(ctx, a); err != nil || again {
		return nil, err
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
		a.Warnings = append(a.Warnings, fmt.Sprintf("The grant %s was used %d times within a day, which is all it allows.", g.ID, g.PerDay))
	}
	return nil, nil
}

// sameWords is for how long the same words are a request for one thing only.
// Older ones are none; see [evidence.Finder.Find].
const sameWords = 30 * time.Minute

// again reports whether something was done because of the same words already:
// a message to the same address, or the very same. "Again" is easily said.
func (d *Queue) again(ctx context.Context, a *hearken.Action) (bool, error) {
	done, err := d.cfg.Store.Actions(ctx, hearken.ActionFilter{Tool: a.Tool, Target: a.Target, Since: a.CreatedAt.Add(-sameWords), Limit: 1000})
	for i := range done {
		old := &done[i]
		switch old.State {
		case hearken.ActionPending, hearken.ActionDenied, hearken.ActionExpired, hearken.ActionCancelled, hearken.ActionFailed, hearken.ActionUndone:
			continue
		}
		if (a.Message != nil || old.Digest == a.Digest) && slices.EqualFunc(old.Evidence, a.Evidence, func(x, y hearken.Evidence) bool {
			return x.Arg == "to" || x.Session == y.Session && x.Line == y.Line // somebody is named more often
		}) {
			a.Warnings = append(a.Warnings, fmt.Sprintf("The same words led to %s already.", old.ID))
			return true, nil
		}
	}
	return false, err
}

func good(g *hearken.Grant, now time.Time) bool {
	return g.RevokedAt == nil && now.Before(g.ExpiresAt)
}

// secretly is what looks like an address of a page, a number of a card or
// account, or a key. A grant to write to somebody is none to send these.
var secretly = regexp.MustCompile(`(?i)://|\bwww\.|[0-9](?:[ -]?[0-9]){11,}|\b(?:[a-z]+[0-9]|[0-9]+[a-z])[a-z0-9_-]{14,}|pass(?:word|wort|code)|\bpin\b|\bcvv\b|パスワード|暗証番号|senha|contraseña`)

// linked is what a program that shows a text makes a link of, though it has no
// scheme: a name with a dot, or a number of four parts. After a dot that ends a
// sentence or an abbreviation comes a capital letter, or one letter alone.
var linked = regexp.MustCompile(`(?:^|[^\pL\pN_.-])(?:` +
	`(?:[\pL\pN-]+\.)*[\pN-]*\pL[\pL\pN-]+[.．](?:\p{Ll}{2,}|\p{Lu}{2,}|xn--[a-z0-9-]+|\pL[\pL\pN-]+/)` +
	`|\pL\.(?:com|org|net|co|me|io)\b|\pL\.\p{Ll}{2,}/` +
	`|\pN+\.\p{Ll}{2,}/` +
	`|[0-9]{1,3}(?:\.[0-9]{1,3}){3}\b)`)

// delicate reports whether a text of an action holds what is always asked
// about.
func delicate(a *hearken.Action) bool {
	for name, text := range texts(a) {
		if name != "to" && (secretly.MatchString(text) || linked.MatchString(text)) {
			return true
		}
	}
	return false
}
