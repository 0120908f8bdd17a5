package act_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
)

// damagedAudit is an audit that may not be intact.
type damagedAudit struct {
	*auditLog
	damage atomic.Pointer[hearken.Error]
}

func (d *damagedAudit) Problem() error {
	if err := d.damage.Load(); err != nil {
		return err
	}
	return nil
}

func (d *damagedAudit) Append(ctx context.Context, r hearken.AuditRecord) error {
	if err := d.Problem(); err != nil {
		return err
	}
	return d.auditLog.Append(ctx, r)
}

// While the audit is not intact, what was approved waits, and the problem says
// why before anything is tried. After it was repaired everything goes on.
func TestQueue_DamagedAudit(t *testing.T) {
	run(t, func(w *world) {
		w.close()
		audit := &damagedAudit{auditLog: w.audit}
		w.cfg.Audit = audit
		w.open()
		a := w.propose(w.message("See you at five."))
		audit.damage.Store(hearken.Errorf(hearken.AuditUnavailable, "The audit is not intact.").WithTry("hearken audit restart"))
		if err := w.queue.Problem(); hearken.CodeOf(err) != hearken.AuditUnavailable || err.Error() != "The audit is not intact. Try: hearken audit restart" {
			t.Errorf("problem: %v", err)
		}
		if _, err := w.queue.Propose(w.Context(), w.message("See you at six.")); hearken.CodeOf(err) != hearken.AuditUnavailable {
			t.Errorf("a request: %v", err)
		}
		if _, decided, err := w.queue.Decide(w.Context(), act.DecisionRequest{ID: a.ID, Digest: a.Digest, Allow: true, By: "owner"}); !decided || err != nil {
			t.Fatalf("decided %t, %v", decided, err)
		}
		if a, err := w.queue.Await(w.Context(), a.ID, time.Minute); err != nil || a.State != hearken.ActionApproved {
			t.Errorf("%s, %v", a.State, err)
		}
		if n := w.mail.count(); n != 0 {
			t.Errorf("%d messages were sent", n)
		}
		audit.damage.Store(nil)
		if err := w.queue.Problem(); err != nil {
			t.Errorf("repaired: %v", err)
		}
		w.queue.AuditRepaired()
		if a, err := w.queue.Await(w.Context(), a.ID, time.Second); err != nil || a.State != hearken.ActionDone {
			t.Errorf("%s, %v", a.State, err)
		}
	})
}
