package act

import (
	"context"
	"fmt"
	"time"

	"github.com/hearken-dev/hearken"
)

// mirrored is the connector of reminders: the hub's own clock, whose word
// counts, and copies elsewhere, such as a calendar server's, which are made as
// well as it goes.
type mirrored struct {
	hearken.Connector
	copies []hearken.Connector
}

func others(all []hearken.Connector, but hearken.Connector) []hearken.Connector {
	var out []hearken.Connector
	for _, c := range all {
		if c != but {
			out = append(out, c)
		}
	}
	return out
}

func (t mirrored) Do(ctx context.Context, a *hearken.Action) hearken.Outcome {
	out := t.Connector.Do(ctx, a)
	if out.Result != hearken.ResultOK {
		return out
	}
	for _, c := range t.copies {
		if got := t.copy(ctx, c.Do, a); got.Result != hearken.ResultOK {
			out.Message += fmt.Sprintf("Not copied to %s: %s", c.Name(), got.Message)
		}
	}
	return out
}

func (t mirrored) Undo(ctx context.Context, a *hearken.Action) hearken.Outcome {
	undoer, ok := t.Connector.(hearken.Undoer)
	if !ok {
		return hearken.Outcome{Result: hearken.ResultPermanent, Message: "This cannot be taken back."}
	}
	out := undoer.Undo(ctx, a)
	if out.Result != hearken.ResultOK {
		return out
	}
	for _, c := range t.copies {
		if undoer, ok := c.(hearken.Undoer); ok {
			if got := t.copy(ctx, undoer.Undo, a); got.Result != hearken.ResultOK {
				out.Message += fmt.Sprintf("Still on %s: %s", c.Name(), got.Message)
			}
		}
	}
	return out
}

// copyTimeout is how long a copy may take: the reminder itself is set already.
const copyTimeout = 15 * time.Second

func (t mirrored) copy(ctx context.Context, do func(context.Context, *hearken.Action) hearken.Outcome, a *hearken.Action) hearken.Outcome {
	ctx, cancel := context.WithTimeout(ctx, copyTimeout)
	defer cancel()
	return do(ctx, a)
}

// conflicts is a calendar that knows what else is there.
type conflicts interface {
	Conflicts(ctx context.Context, start, end time.Time) ([]string, error)
}

// conflictsTimeout is how long a hint may keep a call waiting.
const conflictsTimeout = 2 * time.Second

// overlaps says what stands in the calendar at the same time. It is a hint: a
// calendar that does not answer has none.
func overlaps(ctx context.Context, c conflicts, at *hearken.Appointment) []string {
	ctx, cancel := context.WithTimeout(ctx, conflictsTimeout)
	defer cancel()
	found, err := c.Conflicts(ctx, at.Start, at.Start.Add(at.Duration))
	if err != nil {
		return nil
	}
	var out []string
	for _, title := range found[:min(len(found), 3)] {
		out = append(out, fmt.Sprintf("At the same time: %s", clean(title, 80)))
	}
	return out
}
