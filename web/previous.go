package web

import (
	"cmp"
	"context"
	"time"

	"github.com/hearken-dev/hearken"
)

// previous finds the last allowed action of the same tool and target, and how a
// differs from it. It returns nil if there is none.
func (h *Handler) previous(ctx context.Context, a *hearken.Action) (*previous, error) {
	earlier, err := h.cfg.Queue.Actions(ctx, hearken.ActionFilter{Tool: a.Tool, Target: a.Target, States: allowedStates, Limit: 10})
	if err != nil {
		return nil, err
	}
	for i := range earlier {
		if d := earlier[i].Decision; d != nil && d.Allow {
			return &previous{At: d.At, Differs: differences(&earlier[i], a)}, nil
		}
	}
	return nil, nil
}

// A previous is the last allowed action like a pending one.
type previous struct {
	At      time.Time    `json:"at"`
	Differs []difference `json:"differs"`
}

// A difference is an argument that had another value in the previous action.
type difference struct {
	Arg string `json:"arg"`
	Was string `json:"was"`
}

// differences lists the arguments whose values changed since an earlier action of
// the same tool.
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

// An argument is one property of an action as a person would compare it.
type argument struct{ name, value string }

// arguments returns the same arguments in the same order for every action of a
// tool.
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
