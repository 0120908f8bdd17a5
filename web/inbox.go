package web

import (
	"context"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
)

// maxRecent is how many decided actions the page shows.
const maxRecent = 30

// An inbox is everything that the page shows.
type inbox struct {
	Paused  bool           `json:"paused"`
	Problem *hearken.Error `json:"problem"` // why no action can run now, other than a pause
	Pending []card         `json:"pending"` // newest first
	Calls   []call         `json:"calls"`   // those with collected actions, the latest first
	Recent  []card         `json:"recent"`  // latest first
	Grants  []grant        `json:"grants"`  // valid ones, newest first
}

// A grant is a grant with the name of its key.
type grant struct {
	hearken.Grant
	KeyName string `json:"keyName,omitempty"`
}

// keyNames maps the ids of keys to their names.
type keyNames map[string]string

func (h *Handler) keyNames(ctx context.Context) keyNames {
	names := keyNames{}
	if h.cfg.Keys == nil {
		return names
	}
	keys, err := h.cfg.Keys.Keys(ctx)
	if err != nil {
		h.log.Warn("cannot read the names of keys", "error", err)
	}
	for _, k := range keys {
		names[k.ID] = k.Name
	}
	return names
}

// inbox reads the queue.
func (h *Handler) inbox(ctx context.Context) (*inbox, error) {
	in := &inbox{Paused: h.cfg.Queue.Paused(), Pending: []card{}, Recent: []card{}, Grants: []grant{}}
	if err := h.cfg.Queue.Problem(); err != nil && hearken.CodeOf(err) != hearken.ActionsPaused {
		in.Problem = errorForPage(err)
	}
	names := h.keyNames(ctx)
	pending, err := h.cfg.Queue.Actions(ctx, hearken.ActionFilter{States: []hearken.ActionState{hearken.ActionPending}})
	if err != nil {
		return nil, err
	}
	for i := range pending {
		c := h.card(&pending[i], names)
		if c.Before, err = h.previous(ctx, &pending[i]); err != nil {
			return nil, err
		}
		in.Pending = append(in.Pending, c)
	}
	in.Calls = h.calls(ctx, in.Pending)
	recent, err := h.cfg.Queue.Actions(ctx, hearken.ActionFilter{States: decidedStates, Limit: maxRecent})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(recent, func(a, b hearken.Action) int { return changedAt(&b).Compare(changedAt(&a)) })
	for i := range recent {
		in.Recent = append(in.Recent, h.card(&recent[i], names))
	}
	grants, err := h.cfg.Queue.Grants(ctx)
	if err != nil {
		return nil, err
	}
	for _, g := range slices.Backward(grants) {
		if g.RevokedAt == nil && h.cfg.Now().Before(g.ExpiresAt) {
			in.Grants = append(in.Grants, grant{g, names[g.Principal]})
		}
	}
	return in, nil
}

// decidedStates are all states but pending; allowedStates are those of actions
// that were allowed.
var (
	allowedStates = []hearken.ActionState{
		hearken.ActionApproved, hearken.ActionExecuting, hearken.ActionDone,
		hearken.ActionFailed, hearken.ActionUnknown, hearken.ActionUndone,
	}
	decidedStates = append(slices.Clone(allowedStates), hearken.ActionDenied, hearken.ActionExpired, hearken.ActionCancelled)
)

// changedAt is when the state of an action last changed.
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
