package calendar

import (
	"context"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
)

var (
	_ hearken.Connector = Builtin{}
	_ hearken.Undoer    = Builtin{}
)

// Builtin is the calendar that the hub itself keeps. The stored action is the
// entry: from the moment it is done [Feed] shows it, and once it is undone no
// more. So nothing can fail here, and nothing can happen twice.
type Builtin struct {
	Actions Actions // where [Builtin.Conflicts] looks; may be nil
}

// Name is builtin.
func (Builtin) Name() string { return "builtin" }

// Repeatable is true: there is no effect but the action's own state.
func (Builtin) Repeatable() bool { return true }

// Do answers with the entry's UID.
func (Builtin) Do(_ context.Context, a *hearken.Action) hearken.Outcome {
	if _, err := newObject(a, event, ""); err != nil {
		return outcome(err)
	}
	return hearken.Outcome{Result: hearken.ResultOK, Receipt: UID(a.ID)}
}

// Undo has nothing to do either.
func (Builtin) Undo(_ context.Context, a *hearken.Action) hearken.Outcome {
	return hearken.Outcome{Result: hearken.ResultOK, Receipt: UID(a.ID)}
}

// Conflicts lists the titles of appointments between start and end, for who
// decides about another one; at most five.
func (b Builtin) Conflicts(ctx context.Context, start, end time.Time) ([]string, error) {
	if b.Actions == nil {
		return nil, nil
	}
	list, err := b.Actions.Actions(ctx, hearken.ActionFilter{States: []hearken.ActionState{hearken.ActionDone}, Tool: hearken.CalendarCreate})
	if err != nil {
		return nil, err
	}
	var titles []string
	for _, a := range list {
		p := a.Appointment
		if p == nil || a.Connector != b.Name() || !p.Start.Before(end) || !p.Start.Add(p.Duration).After(start) {
			continue
		}
		if title := short(p.Title, 80); !slices.Contains(titles, title) && len(titles) < mostConflicts {
			titles = append(titles, title)
		}
	}
	return titles, nil
}
