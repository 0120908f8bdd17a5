package alarm

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

// Do creates the alarm of a reminder.
func (c *Clock) Do(ctx context.Context, a *hearken.Action) hearken.Outcome {
	r := a.Reminder
	if r == nil {
		return hearken.Outcome{Result: hearken.ResultPermanent, Message: "This is not a reminder."}
	}
	first, ok := schedule.Next(r.Repeat, r.At, zoneOf(r), r.At.Add(-1))
	if !ok {
		return hearken.Outcome{Result: hearken.ResultPermanent, Message: "The reminder would never fire."}
	}
	alarm := hearken.Alarm{Action: a.ID, Next: first}
	saved, err := c.cfg.Store.SaveAlarm(ctx, &alarm)
	if err != nil {
		c.cfg.Log.Error("alarm cannot be written", "id", a.ID, "error", err)
		return hearken.Outcome{Result: hearken.ResultTemporary, Message: "The reminder could not be saved."}
	}
	if saved {
		c.remember(alarm)
		c.wakeUp()
	}
	return hearken.Outcome{Result: hearken.ResultOK, Receipt: a.ID}
}

// Undo removes the next time of a reminder. Past notifications stay.
func (c *Clock) Undo(ctx context.Context, a *hearken.Action) hearken.Outcome {
	alarm, err := c.find(ctx, a.ID)
	if err == nil && alarm == nil {
		return hearken.Outcome{Result: hearken.ResultOK, Receipt: a.ID}
	}
	if err == nil {
		_, err = c.update(ctx, alarm, func(a *hearken.Alarm) bool {
			could := !a.Next.IsZero()
			a.Next = time.Time{}
			a.SetFailure(hearken.Errorf(hearken.ActionWasCancelled, "The reminder was cancelled."))
			return could
		})
	}
	if err != nil {
		c.cfg.Log.Error("alarm cannot be cancelled", "id", a.ID, "error", err)
		return hearken.Outcome{Result: hearken.ResultTemporary, Message: "The reminder could not be cancelled."}
	}
	c.remember(*alarm)
	if alarm.FailureCode() != hearken.ActionWasCancelled {
		return hearken.Outcome{Result: hearken.ResultPermanent, Message: "The reminder has already fired for the last time."}
	}
	return hearken.Outcome{Result: hearken.ResultOK, Receipt: a.ID}
}
