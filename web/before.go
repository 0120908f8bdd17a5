package web

import (
	"cmp"
	"context"
	"time"

	"github.com/hearken-dev/hearken"
)

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

// differences are the arguments that an action has in another way than an
// earlier one of the same tool.
func differences(earlier, now *hearken.Action) []difference {
	list := []difference{}
	was := arguments(earlier)
	for i, arg := range arguments(now) {
		if i < len(was) && was[i].value != arg.value {
			list = append(list, difference{arg.name, was[i].value})
		}
	}
	return list
}

// An argument is one thing about an action as a person would compare it.
type argument struct{ name, value string }

// arguments are always the same for a tool, in the same order.
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
