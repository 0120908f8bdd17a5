package calendar

import (
	"context"

	"github.com/hearken-dev/hearken"
)

var (
	_ hearken.Connector = Builtin{}
	_ hearken.Undoer    = Builtin{}
)

// Builtin is the calendar that the hub itself keeps. The stored action is the
// entry: from the moment it is done [Feed] shows it, and once it is undone no
// more. So nothing can fail here, and nothing can happen twice.
type Builtin struct{}

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
