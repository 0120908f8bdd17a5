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
		_, _, err := q.changeAndRecord(ctx, id, func(a *hearken.Action) bool {
			if a.State != hearken.ActionExecuting {
				return false
			}
			q.applyOutcome(a, out)
			a.PendingAudit = hearken.AuditResult
			return true
		})
		if err == nil {
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
