package web

import (
	"context"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
)

// A call is a session during which agents requested actions. Those that wait for
// its end are shown as one list.
type call struct {
	ID        string     `json:"id"`
	Title     string     `json:"title,omitempty"`
	StartedAt *time.Time `json:"startedAt,omitempty"` // nil if it is not known
	Live      bool       `json:"live"`                // it goes on
	EndedAt   *time.Time `json:"endedAt,omitempty"`   // nil if it goes on or is not known
	Deleted   bool       `json:"deleted,omitempty"`
	// DecideBy is when the first action of the list expires; nil while the call
	// goes on.
	DecideBy *time.Time `json:"decideBy,omitempty"`
}

// calls returns the calls of the cards that wait for the end of one, the latest
// call first.
func (h *Handler) calls(ctx context.Context, pending []card) []call {
	list := []call{}
	for _, c := range pending {
		if !c.Collected {
			continue
		}
		i := slices.IndexFunc(list, func(known call) bool { return known.ID == c.Call })
		if i < 0 {
			i = len(list)
			list = append(list, h.findCall(ctx, c.Call))
		}
		in := &list[i]
		if !in.Live && (in.DecideBy == nil || c.ExpiresAt.Before(*in.DecideBy)) {
			in.DecideBy = &c.ExpiresAt
		}
	}
	slices.SortStableFunc(list, func(a, b call) int { return b.start().Compare(a.start()) })
	return list
}

// start is when a call started; zero if that is not known.
func (c *call) start() time.Time {
	if c.StartedAt == nil {
		return time.Time{}
	}
	return *c.StartedAt
}

// findCall returns what is known about a call. A session that cannot be read
// hides no action: then only its title and times are missing.
func (h *Handler) findCall(ctx context.Context, id string) call {
	end := h.cfg.Queue.CallEnd(ctx, id)
	c := call{ID: id, Live: end.IsZero()}
	if h.cfg.Transcripts == nil {
		return c
	}
	s, err := h.cfg.Transcripts.Session(ctx, id)
	switch {
	case hearken.CodeOf(err) == hearken.SessionNotFound:
		c.Deleted = true
	case err != nil:
		h.log.Warn("cannot read the session of an action", "session", id, "error", err)
	default:
		c.Title, c.StartedAt = s.Title, &s.StartedAt
		if !c.Live {
			c.EndedAt = &end
		}
	}
	return c
}
