package calendar

import (
	"context"
	"time"

	"github.com/hearken-dev/hearken"
)

var (
	_ hearken.Connector = Builtin{}
	_ hearken.Undoer    = Builtin{}
)

// Builtin is the hub's own calendar. The stored action is the entry: [Feed]
// shows it from when it is done until it is undone. So nothing can fail here,
// and nothing can happen twice.
type Builtin struct {
	Actions Actions // where [Builtin.Conflicts] looks; may be nil
}

// Name is builtin.
func (Builtin) Name() string { return "builtin" }

// Repeatable is true: there is no effect but the action's own state.
func (Builtin) Repeatable() bool { return true }

// Do checks the action. The receipt is the entry's UID.
func (Builtin) Do(_ context.Context, a *hearken.Action) hearken.Outcome {
	if _, err := newObject(a, event, ""); err != nil {
		return outcome(err)
	}
	return hearken.Outcome{Result: hearken.ResultOK, Receipt: UID(a.ID)}
}

// Undo has nothing to do: [Feed] no longer shows an action that is undone.
func (Builtin) Undo(_ context.Context, a *hearken.Action) hearken.Outcome {
	return hearken.Outcome{Result: hearken.ResultOK, Receipt: UID(a.ID)}
}

// Conflicts lists the titles of appointments between start and end, at most
// five, for the person who decides about another one.
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
		titles = appendConflict(titles, shortLine(p.Title, 80))
	}
	return titles, nil
}
