package web

import (
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
