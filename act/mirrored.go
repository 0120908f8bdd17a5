package act

import (
	"context"
	"fmt"
	"time"

	"github.com/hearken-dev/hearken"
)

// mirrored is the connector of reminders. The hub's own clock sets the reminder
// and decides the outcome. Copies elsewhere, such as on a calendar server, are
// made if possible.
type mirrored struct {
	hearken.Connector
	copies []hearken.Connector
}

func (m mirrored) Do(ctx context.Context, a *hearken.Action) hearken.Outcome {
	out := m.Connector.Do(ctx, a)
	if out.Result == hearken.ResultOK {
		for _, c := range m.copies {
			out.Message += tryCopy(ctx, c.Do, a, "Not copied to "+c.Name())
		}
	}
	return out
}

func (m mirrored) Undo(ctx context.Context, a *hearken.Action) hearken.Outcome {
	undoer, ok := m.Connector.(hearken.Undoer)
	if !ok {
		return hearken.Outcome{Result: hearken.ResultPermanent, Message: "This cannot be undone."}
	}
	out := undoer.Undo(ctx, a)
	if out.Result == hearken.ResultOK {
		for _, c := range m.copies {
			if undoer, ok := c.(hearken.Undoer); ok {
				out.Message += tryCopy(ctx, undoer.Undo, a, "Still on "+c.Name())
			}
		}
	}
	return out
}

// copyTimeout bounds each copy: the reminder itself is already set.
const copyTimeout = 15 * time.Second

// tryCopy makes or removes one copy. If that fails, it returns a sentence that
// begins with problem.
func tryCopy(ctx context.Context, do func(context.Context, *hearken.Action) hearken.Outcome, a *hearken.Action, problem string) string {
	ctx, cancel := context.WithTimeout(ctx, copyTimeout)
	defer cancel()
	if out := do(ctx, a); out.Result != hearken.ResultOK {
		return problem + ": " + out.Message
	}
	return ""
}

// conflictFinder is implemented by calendars that know their other
// appointments.
type conflictFinder interface {
	Conflicts(ctx context.Context, start, end time.Time) ([]string, error)
}

// conflictsTimeout is how long a call waits for a calendar's conflicts.
const conflictsTimeout = 2 * time.Second

// conflictWarnings warns of appointments at the same time. A calendar that does
// not answer gives no warnings.
func conflictWarnings(ctx context.Context, c conflictFinder, at *hearken.Appointment) []string {
	ctx, cancel := context.WithTimeout(ctx, conflictsTimeout)
	defer cancel()
	found, err := c.Conflicts(ctx, at.Start, at.Start.Add(at.Duration))
	if err != nil {
		return nil
	}
	var out []string
	for _, title := range found[:min(len(found), 3)] {
		out = append(out, fmt.Sprintf("At the same time: %s", shortLine(title, 80)))
	}
	return out
}
