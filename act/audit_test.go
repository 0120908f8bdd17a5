package act_test

import (
	"bytes"
	"context"
	"log/slog"
	"strconv"
	"strings"
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

// Refusals that cannot be recorded are counted in the log instead of waiting:
// they would fill the place of what the owner does. So is what is one too many.
func TestQueue_RefusalsDoNotWait(t *testing.T) {
	run(t, func(w *world) {
		w.close()
		var logged bytes.Buffer
		w.cfg.Log = slog.New(slog.NewTextHandler(&logged, nil))
		w.open()
		refuse := func() {
			w.Helper()
			req := w.message("one")
			req.Principal = "key_gone"
			if _, err := w.queue.Propose(w.Context(), req); hearken.CodeOf(err) != hearken.Unauthorized {
				w.Errorf("a wrong key: %v", err)
			}
		}
		count := func() (times, dropped int) {
			for line := range strings.Lines(logged.String()) {
				if _, n, ok := strings.Cut(line, "records are missing in the audit, which cannot be written\" count="); ok {
					times++
					count, err := strconv.Atoi(strings.TrimSpace(n))
					if err != nil {
						w.Fatal(err)
					}
					dropped += count
				}
			}
			return times, dropped
		}
		w.audit.setFull(true)
		for range 50 { // of each minute 30 are to be recorded
			for range 50 {
				refuse()
			}
			w.sleep(61 * time.Second)
		}
		if err := w.queue.Pause(w.Context(), true, "terminal"); err != nil {
			w.Fatal(err)
		}
		w.sleep(2 * time.Minute)
		if times, dropped := count(); dropped != 50*30 || times > 52 {
			w.Errorf("%d dropped records are logged, %d times", dropped, times)
		}
		for range 1001 { // two are too many, with the one before
			if err := w.queue.Pause(w.Context(), true, "terminal"); err != nil {
				w.Fatal(err)
			}
		}
		w.sleep(2 * time.Minute)
		if _, dropped := count(); dropped != 50*30+2 {
			w.Errorf("%d dropped records are logged", dropped)
		}
		w.audit.setFull(false)
		w.sleep(time.Minute)
		paused := 0
		for _, r := range w.audit.all() {
			if r.Type != hearken.AuditPaused {
				w.Errorf("the audit has %+v", r)
			}
			paused++
		}
		if paused != 1000 {
			w.Errorf("the audit has %d of the owner's changes", paused)
		}
		refuse()
		if all := w.audit.all(); all[len(all)-1].Type != hearken.AuditRefused {
			w.Error("a refusal is not recorded again")
		}
	})
}
