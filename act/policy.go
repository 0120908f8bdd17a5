package act

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act/evidence"
)

// day is the time over which a grant's uses are counted.
const day = 24 * time.Hour

// applyPolicy decides what needs no person: it denies what is never allowed and
// approves what a grant covers. All else stays pending.
func (q *Queue) applyPolicy(ctx context.Context, a *hearken.Action, found evidence.Finding) error {
	a.Evidence = found.Evidence
	a.Warnings = slices.Concat(warnings(a.Evidence), found.Doubts, a.Warnings)
	a.Grantable = onlyFromMicrophone(a.Evidence) && len(found.Doubts) == 0
	if m := a.Message; m != nil && !m.Known && !q.cfg.FarRecipients && fromFarSide(a.Evidence, "to") {
		a.State, a.EndedAt = hearken.ActionDenied, &a.CreatedAt
		a.SetFailure(hearken.PolicyDenied, "only the other side of the call named this recipient, who is not in the contact book.")
		a.Decision = &hearken.Decision{By: "policy", From: "policy", At: a.CreatedAt}
		return nil
	}
	grant, err := q.findGrant(ctx, a)
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

// onlyFromMicrophone reports whether everything was said on this side.
func onlyFromMicrophone(said []hearken.Evidence) bool {
	return len(said) > 0 && !slices.ContainsFunc(said, func(e hearken.Evidence) bool {
		return e.Source != hearken.Microphone || e.Echo
	})
}

// fromFarSide reports whether an argument, or any if arg is empty, comes from
// the other side.
func fromFarSide(said []hearken.Evidence, arg string) bool {
	return slices.ContainsFunc(said, func(e hearken.Evidence) bool {
		return (arg == "" || e.Arg == arg) && (e.Source == hearken.System || e.Echo)
	})
}

// warnings tell the decider where the words came from.
func warnings(said []hearken.Evidence) []string {
	var echoed, far, unsaid []string
	for _, e := range said {
		name := "the " + argName(e.Arg)
		switch {
		case e.Echo:
			echoed = append(echoed, name)
		case e.Source == hearken.System:
			far = append(far, name)
		case e.Source == "":
			unsaid = append(unsaid, name)
		}
	}
	var out []string
	if len(far) > 0 {
		out = append(out, fmt.Sprintf("The other side said %s, not you.", joinList(far, "and")))
	}
	if len(echoed) > 0 {
		out = append(out, fmt.Sprintf("The other side said %s, not you. Your microphone picked up an echo.", joinList(echoed, "and")))
	}
	if len(unsaid) > 0 {
		out = append(out, fmt.Sprintf("Nobody was heard saying %s.", joinList(unsaid, "or")))
	}
	return out
}

// joinList writes a list as people do: a, b and c.
func joinList(list []string, last string) string {
	n := len(list) - 1
	if n == 0 {
		return list[0]
	}
	return strings.Join(list[:n], ", ") + " " + last + " " + list[n]
}

// argName is an argument's name for people.
func argName(arg string) string {
	if arg == "to" {
		return "recipient"
	}
	return arg
}

// findGrant returns a grant that covers an action, nil if there is none.
func (q *Queue) findGrant(ctx context.Context, a *hearken.Action) (*hearken.Grant, error) {
	if !a.Grantable || isSensitive(a) {
		return nil, nil
	}
	if used, err := q.wordsAlreadyUsed(ctx, a); err != nil || used {
		return nil, err
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
		if len(used) < g.PerDay {
			return g, nil
		}
		a.Warnings = append(a.Warnings, fmt.Sprintf("The grant %s has reached its limit of %d a day.", g.ID, g.PerDay))
	}
	return nil, nil
}

// sameWordsWindow is how long the same words count as a request for one thing
// only. Older words count as none; see [evidence.Finder.Find].
const sameWordsWindow = 30 * time.Minute

// wordsAlreadyUsed reports whether the same words have already led to a message
// to the same address, or to the very same action.
func (q *Queue) wordsAlreadyUsed(ctx context.Context, a *hearken.Action) (bool, error) {
	done, err := q.cfg.Store.Actions(ctx, hearken.ActionFilter{Tool: a.Tool, Target: a.Target, Since: a.CreatedAt.Add(-sameWordsWindow), Limit: 1000})
	for i := range done {
		old := &done[i]
		switch old.State {
		case hearken.ActionPending, hearken.ActionDenied, hearken.ActionExpired, hearken.ActionCancelled, hearken.ActionFailed, hearken.ActionUndone:
			continue
		}
		if (a.Message != nil || old.Digest == a.Digest) && slices.EqualFunc(old.Evidence, a.Evidence, func(x, y hearken.Evidence) bool {
			return x.Arg == "to" || x.Session == y.Session && x.Line == y.Line // somebody is named more often
		}) {
			a.Warnings = append(a.Warnings, fmt.Sprintf("The same words already led to %s.", old.ID))
			return true, nil
		}
	}
	return false, err
}

func isValidGrant(g *hearken.Grant, now time.Time) bool {
	return g.RevokedAt == nil && now.Before(g.ExpiresAt)
}

// secretPattern matches links, card and account numbers, keys and passwords. A
// grant to write to somebody does not cover sending these.
var secretPattern = regexp.MustCompile(`(?i)://|\bwww\.|[0-9](?:[ -]?[0-9]){11,}|\b(?:[a-z]+[0-9]|[0-9]+[a-z])[a-z0-9_-]{14,}|pass(?:word|wort|code)|\bpin\b|\bcvv\b|パスワード|暗証番号|senha|contraseña`)

// linkPattern matches what programs turn into a link although it has no scheme:
// a name with a dot, or four numbers. After a dot that ends a sentence or an
// abbreviation comes a capital letter, or a single letter.
var linkPattern = regexp.MustCompile(`(?:^|[^\pL\pN_.-])(?:` +
	`(?:[\pL\pN-]+\.)*[\pN-]*\pL[\pL\pN-]+[.．](?:\p{Ll}{2,}|\p{Lu}{2,}|xn--[a-z0-9-]+|\pL[\pL\pN-]+/)` +
	`|\pL\.(?:com|org|net|co|me|io)\b|\pL\.\p{Ll}{2,}/` +
	`|\pN+\.\p{Ll}{2,}/` +
	`|[0-9]{1,3}(?:\.[0-9]{1,3}){3}\b)`)

// isSensitive reports whether an action's text contains something that is never
// covered by a grant.
func isSensitive(a *hearken.Action) bool {
	for name, text := range freeTexts(a) {
		if name != "to" && (secretPattern.MatchString(text) || linkPattern.MatchString(text)) {
			return true
		}
	}
	return false
}
