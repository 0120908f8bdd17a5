package web

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
)

// maxRecent is how many actions that were decided the page shows.
const maxRecent = 30

// An inbox is everything that the page shows.
type inbox struct {
	Paused  bool     `json:"paused"`
	Problem *failure `json:"problem"` // why nothing can be done now, besides a pause
	Pending []card   `json:"pending"` // newest first
	Recent  []card   `json:"recent"`  // latest first
	Grants  []grant  `json:"grants"`  // those that hold, newest first
}

// A grant, with the name of the key that it is for.
type grant struct {
	hearken.Grant
	KeyName string `json:"keyName,omitempty"`
}

// names are the keys' names by their ids.
type names map[string]string

func (h *Handler) names(ctx context.Context) names {
	n := names{}
	if h.cfg.Keys == nil {
		return n
	}
	keys, err := h.cfg.Keys.Keys(ctx)
	if err != nil {
		h.log.Warn("keys of the page", "error", err)
	}
	for _, k := range keys {
		n[k.ID] = k.Name
	}
	return n
}

// inbox looks at the desk.
func (h *Handler) inbox(ctx context.Context) (*inbox, error) {
	in := &inbox{Paused: h.cfg.Desk.Paused(), Pending: []card{}, Recent: []card{}, Grants: []grant{}}
	if err := h.cfg.Desk.Problem(); err != nil && hearken.CodeOf(err) != hearken.ActionsPaused {
		in.Problem = failureOf(err)
	}
	n := h.names(ctx)
	pending, err := h.cfg.Desk.Actions(ctx, hearken.ActionFilter{States: []hearken.ActionState{hearken.ActionPending}})
	if err != nil {
		return nil, err
	}
	for i := range pending {
		c := h.card(&pending[i], n)
		if c.Before, err = h.before(ctx, &pending[i]); err != nil {
			return nil, err
		}
		in.Pending = append(in.Pending, c)
	}
	recent, err := h.cfg.Desk.Actions(ctx, hearken.ActionFilter{States: decidedStates, Limit: maxRecent})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(recent, func(a, b hearken.Action) int { return changedAt(&b).Compare(changedAt(&a)) })
	for i := range recent {
		in.Recent = append(in.Recent, h.card(&recent[i], n))
	}
	grants, err := h.cfg.Desk.Grants(ctx)
	if err != nil {
		return nil, err
	}
	for _, g := range slices.Backward(grants) {
		if g.RevokedAt == nil && h.cfg.Now().Before(g.ExpiresAt) {
			in.Grants = append(in.Grants, grant{g, n[g.Principal]})
		}
	}
	return in, nil
}

// decidedStates are all but pending, and allowedStates those that somebody
// said yes to.
var (
	allowedStates = []hearken.ActionState{
		hearken.ActionApproved, hearken.ActionExecuting, hearken.ActionDone,
		hearken.ActionFailed, hearken.ActionUnknown, hearken.ActionUndone,
	}
	decidedStates = append(slices.Clone(allowedStates), hearken.ActionDenied, hearken.ActionExpired, hearken.ActionCancelled)
)

// changedAt is when something last happened to an action.
func changedAt(a *hearken.Action) time.Time {
	at := a.CreatedAt
	if a.Decision != nil {
		at = a.Decision.At
	}
	if a.EndedAt != nil {
		at = *a.EndedAt
	}
	return at
}

// before says what is new about an action: how it differs from the last one
// that went to the same target with somebody's word.
func (h *Handler) before(ctx context.Context, a *hearken.Action) (*before, error) {
	earlier, err := h.cfg.Desk.Actions(ctx, hearken.ActionFilter{Tool: a.Tool, Target: a.Target, States: allowedStates, Limit: 10})
	if err != nil {
		return nil, err
	}
	for i := range earlier {
		if d := earlier[i].Decision; d != nil && d.Allow {
			return &before{At: d.At, Differs: differences(&earlier[i], a)}, nil
		}
	}
	return nil, nil
}

// A before is the last action of a kind that was allowed.
type before struct {
	At      time.Time    `json:"at"`
	Differs []difference `json:"differs"`
}

// A difference is what an argument was the last time.
type difference struct {
	Arg string `json:"arg"`
	Was string `json:"was"`
}

// differences are the arguments of which b has another value than a had.
func differences(a, b *hearken.Action) []difference {
	list := []difference{}
	was := arguments(a)
	for arg, now := range pairs(arguments(b)) {
		if old := valueOf(was, arg); old != now {
			list = append(list, difference{arg, old})
		}
	}
	return list
}

// An argument is one thing about an action as a person would compare it.
type argument struct{ name, value string }

func arguments(a *hearken.Action) []argument {
	list := []argument{{"key", cmp.Or(a.Client, a.Principal)}, {"connector", a.Connector}}
	switch {
	case a.Appointment != nil:
		e := a.Appointment
		list = append(list, argument{"title", e.Title}, argument{"when", momentOf(e.Start, e.Zone).String()},
			argument{"duration", e.Duration.String()}, argument{"location", e.Location}, argument{"description", e.Description})
	case a.Message != nil:
		list = append(list, argument{"text", a.Message.Text})
	case a.Reminder != nil:
		r := a.Reminder
		list = append(list, argument{"note", r.Note}, argument{"when", momentOf(r.At, r.Zone).String()}, argument{"repeat", r.Repeat})
	}
	return list
}

// pairs iterates over the arguments as names and values.
func pairs(list []argument) func(yield func(name, value string) bool) {
	return func(yield func(string, string) bool) {
		for _, a := range list {
			if !yield(a.name, a.value) {
				return
			}
		}
	}
}

func valueOf(list []argument, name string) string {
	for _, a := range list {
		if a.name == name {
			return a.value
		}
	}
	return ""
}
