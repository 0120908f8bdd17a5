package act

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/hearken-dev/hearken"
)

// maxOwed bounds the records that wait for an audit that cannot be written.
// Nothing new is carried out meanwhile, so there cannot be many.
const maxOwed = 1000

// A ledger writes the audit. What must be written before something happens is
// written or fails; what tells of something that has happened is owed until it
// is written, and nothing is carried out as long as something is owed.
type ledger struct {
	audit hearken.Audit
	log   *slog.Logger

	mu   sync.Mutex
	owed []hearken.AuditRecord
	err  error // of the last attempt
}

// write puts a record on disk, after all that is owed.
func (l *ledger) write(ctx context.Context, r hearken.AuditRecord) error {
	l.mu.Lock()
	for l.err != nil || len(l.owed) > 0 {
		if l.err = l.settle(ctx); l.err != nil {
			l.mu.Unlock()
			return unavailable(l.err)
		}
	}
	l.mu.Unlock()
	if err := l.audit.Append(ctx, r); err != nil {
		l.fail(err, nil)
		return unavailable(err)
	}
	return nil
}

// note writes of something that has happened, now or as soon as it can be, and
// reports whether it is on disk.
func (l *ledger) note(ctx context.Context, r hearken.AuditRecord) bool {
	l.mu.Lock()
	waiting := len(l.owed) > 0
	l.mu.Unlock()
	if waiting {
		l.fail(nil, &r)
		return false
	}
	if err := l.audit.Append(context.WithoutCancel(ctx), r); err != nil {
		l.fail(err, &r)
		return false
	}
	return true
}

func (l *ledger) fail(err error, r *hearken.AuditRecord) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil && l.err == nil {
		l.log.Error("audit cannot be written; no action is carried out", "error", err)
	}
	if err != nil {
		l.err = err
	}
	if r != nil && len(l.owed) < maxOwed {
		l.owed = append(l.owed, *r)
	}
}

// settle writes what is owed. It is called with mu held.
func (l *ledger) settle(ctx context.Context) error {
	for len(l.owed) > 0 {
		if err := l.audit.Append(ctx, l.owed[0]); err != nil {
			return err
		}
		l.owed = l.owed[1:]
	}
	return nil
}

// retry settles what is owed, if anything is.
func (l *ledger) retry(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.owed) > 0 {
		l.err = l.settle(ctx)
	}
}

func (l *ledger) problem() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return unavailable(l.err)
	}
	return nil
}

func unavailable(err error) error {
	if hearken.CodeOf(err) == hearken.AuditUnavailable {
		return err
	}
	return hearken.Errorf(hearken.AuditUnavailable, "The audit cannot be written, so nothing is carried out: %w.", err).
		WithTry("hearken audit verify, and look whether the disk is full")
}

// settle writes down the last change of an action, and reports whether that is
// done. What cannot be written stays owed; see [Queue.settleAll].
func (d *Queue) settle(ctx context.Context, a *hearken.Action) bool {
	owed := a.PendingAudit
	if owed == "" {
		return true
	}
	if d.ledger.write(context.WithoutCancel(ctx), record(owed, a)) != nil {
		d.rest()
		d.unsettled.Store(true)
		return false
	}
	_, _, err := d.update(context.WithoutCancel(ctx), a.ID, func(a *hearken.Action) bool {
		if a.PendingAudit != owed {
			return false
		}
		a.PendingAudit = ""
		return true
	})
	if err != nil { // it will be written once more, which does no harm
		d.log.Warn("an action is not marked as written down", "action", a.ID, "error", err)
	}
	return true
}

// settleAll writes down what is owed of any action. A record may be there twice
// then, which is better than not at all.
func (d *Queue) settleAll(ctx context.Context) error {
	owed, err := d.cfg.Store.Actions(ctx, hearken.ActionFilter{PendingAudit: true})
	if err != nil {
		return fmt.Errorf("actions that may not be written down: %w", err)
	}
	d.unsettled.Store(false)
	for i := len(owed) - 1; i >= 0; i-- {
		if !d.settle(ctx, &owed[i]) {
			break
		}
	}
	return nil
}

// record is what the audit says of an action.
func record(kind string, a *hearken.Action) hearken.AuditRecord {
	r := hearken.AuditRecord{
		Type: kind, Action: a.ID, Principal: a.Principal, Tool: a.Tool, Target: a.Target, Digest: a.Digest,
		State: string(a.State), Receipt: a.Receipt, Error: string(codeOf(a.Error)),
	}
	if dec := a.Decision; dec != nil {
		r.By, r.From, r.Grant = dec.By, dec.From, dec.Grant
	}
	return r
}

// proposal is the record with all that was asked for.
func proposal(a *hearken.Action) hearken.AuditRecord {
	r := record(hearken.AuditProposed, a)
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
	r.Texts = texts(a)
	switch {
	case a.Appointment != nil:
		r.When = &a.Appointment.Start
	case a.Reminder != nil:
		r.When = &a.Reminder.At
	}
	return r
}

// texts are the free texts of an action, by their arguments.
func texts(a *hearken.Action) map[string]string {
	out := map[string]string{}
	add := func(name, text string) {
		if text != "" {
			out[name] = text
		}
	}
	switch {
	case a.Appointment != nil:
		add("title", a.Appointment.Title)
		add("description", a.Appointment.Description)
		add("location", a.Appointment.Location)
	case a.Message != nil:
		add("to", a.Message.To)
		add("text", a.Message.Text)
	case a.Reminder != nil:
		add("note", a.Reminder.Note)
	}
	return out
}
