package act

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
)

// maxPending bounds the records that wait while the audit cannot be written.
// Nothing new is carried out meanwhile, and refusals do not wait, so that only
// the owner's own changes can fill it.
const maxPending = 1000

// An auditWriter writes the audit. A record about something that is going to
// happen must be written first, or the write fails. A record about something
// that has happened is queued if it cannot be written, and nothing is carried
// out while records are queued. Refusals are not queued but counted: an audit
// may stay broken for days, and anybody can cause refusals.
type auditWriter struct {
	audit hearken.Audit
	log   *slog.Logger
	now   func() time.Time

	mu      sync.Mutex
	pending []hearken.AuditRecord
	err     error // of the last attempt
	damaged bool  // that attempt failed because the audit is not intact
	lost    int   // records that were dropped since they were last logged
	lostLog time.Time
}

// A checkedAudit knows whether it is intact. One that is not takes no records.
type checkedAudit interface {
	Problem() error
}

// damage says why the audit is not intact; nil if it is, or if nobody knows.
func (w *auditWriter) damage() error {
	if a, ok := w.audit.(checkedAudit); ok {
		return a.Problem()
	}
	return nil
}

// write writes a record, after all queued ones.
func (w *auditWriter) write(ctx context.Context, r hearken.AuditRecord) error {
	w.mu.Lock()
	err := w.flush(ctx)
	w.mu.Unlock()
	if err == nil {
		err = w.audit.Append(ctx, r)
	}
	if err != nil {
		w.failed(err, nil)
		return unavailable(err)
	}
	w.succeeded()
	return nil
}

// writeOrQueue writes a record about something that has happened, now or, unless
// it is a refusal, as soon as possible. It reports whether the record is on disk.
func (w *auditWriter) writeOrQueue(ctx context.Context, r hearken.AuditRecord) bool {
	w.mu.Lock()
	waiting := len(w.pending) > 0
	w.mu.Unlock()
	if waiting {
		w.failed(nil, &r)
		return false
	}
	if err := w.audit.Append(context.WithoutCancel(ctx), r); err != nil {
		w.failed(err, &r)
		return false
	}
	w.succeeded()
	return true
}

func (w *auditWriter) succeeded() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err, w.damaged = nil, false
}

func (w *auditWriter) failed(err error, r *hearken.AuditRecord) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		if w.err == nil {
			w.log.Error("audit cannot be written; no action is carried out", "error", err)
		}
		w.err, w.damaged = err, w.damage() != nil
	}
	switch {
	case r == nil:
	case r.Type == hearken.AuditRefused || r.Type == hearken.AuditLimited || len(w.pending) >= maxPending:
		w.lost++
		w.logLost()
	default:
		w.pending = append(w.pending, *r)
	}
}

// logLost says how many records were dropped, once a minute at most. The caller
// holds mu.
func (w *auditWriter) logLost() {
	if now := w.now(); w.lost > 0 && now.Sub(w.lostLog) >= time.Minute {
		w.log.Warn("records are missing in the audit, which cannot be written", "count", w.lost)
		w.lost, w.lostLog = 0, now
	}
}

// flush writes the queued records. The caller holds mu.
func (w *auditWriter) flush(ctx context.Context) error {
	for len(w.pending) > 0 {
		if err := w.audit.Append(ctx, w.pending[0]); err != nil {
			return err
		}
		w.pending = w.pending[1:]
	}
	return nil
}

// retry writes the queued records, if there are any.
func (w *auditWriter) retry(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.logLost()
	if len(w.pending) > 0 {
		w.err = w.flush(ctx)
		w.damaged = w.err != nil && w.damage() != nil
	}
}

// problem says why nothing can be carried out. It needs no attempt to learn
// that the audit is not intact, or that it is again.
func (w *auditWriter) problem() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.damage(); err != nil {
		return unavailable(err)
	}
	if w.damaged {
		w.err, w.damaged = nil, false
	}
	return unavailable(w.err)
}

func unavailable(err error) error {
	if err == nil || hearken.CodeOf(err) == hearken.AuditUnavailable {
		return err
	}
	return hearken.Errorf(hearken.AuditUnavailable, "The audit cannot be written, so no action is carried out: %w.", err).
		WithTry("hearken audit verify, and check that the disk is not full")
}

// AuditRepaired tells the queue that the audit can be written again, so that
// what waits for it goes on at once.
func (q *Queue) AuditRepaired() {
	q.mu.Lock()
	q.backOffUntil = time.Time{}
	q.mu.Unlock()
	q.changed()
}

// recordChange writes the audit record about an action's last change, and
// reports whether it did. Otherwise the record stays pending; see
// [Queue.recordAllPending].
func (q *Queue) recordChange(ctx context.Context, a *hearken.Action) bool {
	pending := a.PendingAudit
	if pending == "" {
		return true
	}
	if q.audit.write(context.WithoutCancel(ctx), actionRecord(pending, a)) != nil {
		q.backOff()
		q.auditPending.Store(true)
		return false
	}
	_, _, err := q.update(context.WithoutCancel(ctx), a.ID, func(a *hearken.Action) bool {
		if a.PendingAudit != pending {
			return false
		}
		a.PendingAudit = ""
		return true
	})
	if err != nil { // the record will be written a second time, which is harmless
		q.log.Warn("an action still counts as not recorded", "action", a.ID, "error", err)
	}
	return true
}

// recordAllPending writes the pending audit records of all actions. A record
// may then exist twice, which is better than not at all.
func (q *Queue) recordAllPending(ctx context.Context) error {
	pending, err := q.cfg.Store.Actions(ctx, hearken.ActionFilter{PendingAudit: true})
	if err != nil {
		return fmt.Errorf("find actions without an audit record: %w", err)
	}
	q.auditPending.Store(false)
	for i := len(pending) - 1; i >= 0; i-- {
		if !q.recordChange(ctx, &pending[i]) {
			break
		}
	}
	return nil
}

// actionRecord returns the audit record about an action.
func actionRecord(kind string, a *hearken.Action) hearken.AuditRecord {
	r := hearken.AuditRecord{
		Type: kind, Action: a.ID, Principal: a.Principal, Tool: a.Tool, Target: a.Target, Digest: a.Digest,
		State: string(a.State), Receipt: a.Receipt, Error: string(a.FailureCode()),
	}
	if dec := a.Decision; dec != nil {
		r.By, r.From, r.Grant = dec.By, dec.From, dec.Grant
	}
	return r
}

// proposalRecord returns the record of a new action, with its arguments.
func proposalRecord(a *hearken.Action) hearken.AuditRecord {
	r := actionRecord(hearken.AuditProposed, a)
	for _, e := range a.Evidence {
		said := e.Arg + "=none"
		if e.Source != "" {
			said = e.Arg + "=" + string(e.Source) + ":" + e.Session + "/" + e.Segment
		}
		if e.Echo {
			said += " echo"
		}
		r.Evidence = append(r.Evidence, said)
	}
	r.Texts = freeTexts(a)
	switch {
	case a.Appointment != nil:
		r.When = &a.Appointment.Start
	case a.Reminder != nil:
		r.When = &a.Reminder.At
	}
	return r
}

// freeTexts returns the free texts of an action by argument.
func freeTexts(a *hearken.Action) map[string]string {
	out := map[string]string{}
	switch {
	case a.Appointment != nil:
		out["title"], out["description"], out["location"] = a.Appointment.Title, a.Appointment.Description, a.Appointment.Location
	case a.Message != nil:
		out["to"], out["text"] = a.Message.To, a.Message.Text
	case a.Reminder != nil:
		out["note"] = a.Reminder.Note
	}
	maps.DeleteFunc(out, func(_, text string) bool { return text == "" })
	return out
}

// refusalsPerMinute is how many refusals a [RefusalThrottle] lets through.
const refusalsPerMinute = 30

// RefusalsOmitted is the state of the last refusal that is recorded in a
// minute.
const RefusalsOmitted = "further refusals within this minute are not written down"

// A RefusalThrottle keeps a flood of refusals from filling the audit. It lets
// some through each minute and marks the last of them.
type RefusalThrottle struct {
	mu    sync.Mutex
	since time.Time
	count int
}

// Allow reports whether to record one more refusal, and whether it is the last
// in this minute.
func (t *RefusalThrottle) Allow(now time.Time) (allow, last bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if age := now.Sub(t.since); age > time.Minute || age < 0 {
		t.since, t.count = now, 0
	}
	t.count++
	return t.count <= refusalsPerMinute, t.count == refusalsPerMinute
}
