package act

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
)

// attemptTimeout bounds one attempt.
const attemptTimeout = 60 * time.Second

// retryDelays are the delays after the first, second and third attempt that
// surely had no effect.
var retryDelays = []time.Duration{2 * time.Second, 8 * time.Second, 30 * time.Second}

// attempt lets the connector carry out the action.
func (q *Queue) attempt(ctx context.Context, a *hearken.Action) (out hearken.Outcome) {
	c := q.connector(a)
	if c == nil {
		return hearken.Outcome{Result: hearken.ResultPermanent, Message: "The connector " + a.Connector + " is no longer set up."}
	}
	defer func() {
		if v := recover(); v != nil {
			// The value may contain what somebody said; its type does not.
			q.log.Error("connector panicked", "connector", a.Connector, "type", fmt.Sprintf("%T", v))
			out = hearken.Outcome{Result: hearken.ResultUnknown, Message: "Something went wrong inside the hub while this was carried out."}
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	return c.Do(ctx, a)
}

// saveOutcome saves how an attempt went. It retries until the queue is closed:
// the attempt cannot be undone.
func (q *Queue) saveOutcome(id string, out hearken.Outcome) {
	ctx := context.Background()
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, backOffTime) {
		a, saved, err := q.changeAndRecord(ctx, id, func(a *hearken.Action) bool {
			if a.State != hearken.ActionExecuting {
				return false
			}
			q.applyOutcome(a, out)
			a.PendingAudit = hearken.AuditResult
			return true
		})
		if err == nil {
			if saved {
				q.notifyGranted(a)
			}
			return
		}
		q.log.Error("outcome of an action not saved", "action", id, "error", err)
		select {
		case <-time.After(wait):
		case <-q.closing:
			return // the next hub finds it executing and marks it as unknown
		}
	}
}

// applyOutcome updates an action with the outcome of an attempt.
func (q *Queue) applyOutcome(a *hearken.Action, out hearken.Outcome) {
	now := q.cfg.Now().UTC()
	a.Receipt = out.Receipt
	switch out.Result {
	case hearken.ResultOK:
		endAction(a, hearken.ActionDone, now)
	case hearken.ResultTemporary:
		if a.Attempts <= len(retryDelays) {
			at := now.Add(max(retryDelays[a.Attempts-1], min(out.After, 10*time.Minute)))
			a.State, a.RunAt = hearken.ActionApproved, &at
			a.SetFailure(hearken.ProviderTemporary, out.Message)
			return
		}
		if c := q.connector(a); c != nil && c.Repeatable() {
			// A repeatable attempt also counts as temporary if it got no answer,
			// so one of them may have succeeded.
			failAction(a, hearken.ActionUnknown, now, hearken.OutcomeUnknown, out.Message)
			return
		}
		failAction(a, hearken.ActionFailed, now, hearken.ProviderTemporary, out.Message)
	case hearken.ResultPermanent:
		failAction(a, hearken.ActionFailed, now, hearken.ProviderRejected, out.Message)
	default:
		failAction(a, hearken.ActionUnknown, now, hearken.OutcomeUnknown, out.Message)
	}
}

// connector returns the connector of an action, nil if there is none.
func (q *Queue) connector(a *hearken.Action) hearken.Connector {
	all := q.connectors(a.Tool)
	i := slices.IndexFunc(all, func(c hearken.Connector) bool { return c.Name() == a.Connector })
	if i < 0 {
		return nil
	}
	if a.Tool == hearken.ReminderCreate {
		return mirrored{all[i], slices.Delete(slices.Clone(all), i, i+1)}
	}
	return all[i]
}

// connectors returns the connectors of a tool.
func (q *Queue) connectors(tool string) []hearken.Connector {
	switch tool {
	case hearken.CalendarCreate:
		return q.cfg.Calendars
	case hearken.MessageSend:
		return q.cfg.Messengers
	case hearken.ReminderCreate:
		return q.cfg.Reminders
	}
	return nil
}

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
