package clock

import (
	"context"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/schedule"
)

var (
	_ hearken.Connector = (*Clock)(nil)
	_ hearken.Undoer    = (*Clock)(nil)
)

// Name is "builtin".
func (c *Clock) Name() string { return "builtin" }

// Repeatable is true: an action has one alarm, however often it is done.
func (c *Clock) Repeatable() bool { return true }

// Do keeps the alarm of a reminder.
func (c *Clock) Do(ctx context.Context, a *hearken.Action) hearken.Outcome {
	r := a.Reminder
	if r == nil {
		return hearken.Outcome{Result: hearken.ResultPermanent, Message: "This is not a reminder."}
	}
	first, ok := schedule.Next(r.Repeat, r.At, zoneOf(r), r.At.Add(-1))
	if !ok {
		return hearken.Outcome{Result: hearken.ResultPermanent, Message: "The reminder has no time at which it could be told."}
	}
	alarm := hearken.Alarm{Action: a.ID, Next: first}
	saved, err := c.cfg.Store.SaveAlarm(ctx, &alarm)
	if err != nil {
		c.cfg.Log.Error("alarm cannot be written", "id", a.ID, "error", err)
		return hearken.Outcome{Result: hearken.ResultTemporary, Message: "The reminder could not be written down."}
	}
	if saved {
		c.take(alarm)
		c.rouse()
	}
	return hearken.Outcome{Result: hearken.ResultOK, Receipt: a.ID}
}

// undone is the error of an alarm whose next time was taken away.
const undone = string(hearken.ActionWasCancelled) + ": The reminder was taken back."

// Undo takes the next time of a reminder away. What was told is told.
func (c *Clock) Undo(ctx context.Context, a *hearken.Action) hearken.Outcome {
	alarm, err := c.find(ctx, a.ID)
	if err == nil && alarm == nil {
		return hearken.Outcome{Result: hearken.ResultOK, Receipt: a.ID}
	}
	if err == nil {
		_, err = c.amend(ctx, alarm, func(a *hearken.Alarm) bool {
			could := !a.Next.IsZero()
			a.Next, a.Error = time.Time{}, undone
			return could
		})
	}
	if err != nil {
		c.cfg.Log.Error("alarm cannot be taken away", "id", a.ID, "error", err)
		return hearken.Outcome{Result: hearken.ResultTemporary, Message: "The reminder could not be taken away."}
	}
	c.take(*alarm)
	if alarm.Error != undone {
		return hearken.Outcome{Result: hearken.ResultPermanent, Message: "The reminder was told already and has no further time."}
	}
	return hearken.Outcome{Result: hearken.ResultOK, Receipt: a.ID}
}
