package upgrade

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken/test/hubtest"
)

// An action is what the tests look at in one.
type action struct {
	ID, State string
	Message   *struct{ Name, Address string }
}

// pending lists the actions that wait for their owner.
func (d *directory) pending(t *testing.T) []action {
	t.Helper()
	var list []action
	if err := d.Get(t.Context(), &list, "actions", "list", "--state", "pending"); err != nil {
		t.Fatal(err)
	}
	return list
}

// tomorrow is a time for new actions.
func tomorrow() string { return time.Now().AddDate(0, 0, 1).Format(time.RFC3339) }

// checkPaused checks that the pause still holds, that only the PIN ends it, and
// ends it.
func (d *directory) checkPaused(t *testing.T) {
	t.Helper()
	var outcome struct{ Status, Error string }
	err := d.CallAs(t.Context(), d.expected.Key, "reminder_create", map[string]any{"time": tomorrow(), "note": "Not now"}, &outcome)
	if err != nil || !strings.Contains(outcome.Error, "paused all actions") {
		t.Errorf("an action while all are paused: %+v, %v", outcome, err)
	}
	if _, err := d.RunAs(t.Context(), d.wrong, "resume"); err == nil || !strings.Contains(err.Error(), "Wrong PIN") {
		t.Errorf("resume with a wrong PIN: %v", err)
	}
	if _, err := d.RunAs(t.Context(), d.pin, "resume"); err != nil {
		t.Error(err)
	}
}

// checkAppends adds to the old data: an appointment that the owner allows, and
// a message to an old contact that the owner denies.
func (d *directory) checkAppends(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	event, answer := d.propose(t, "calendar_create", map[string]any{"title": "Picnic", "start": tomorrow(), "duration_min": 60})
	if _, err := d.RunAs(ctx, d.wrong, "approve", event.ID); err == nil || !strings.Contains(err.Error(), "Wrong PIN") {
		t.Errorf("approval with a wrong PIN: %v", err)
	}
	if _, err := d.RunAs(ctx, d.pin, "approve", event.ID); err != nil {
		t.Error(err)
	}
	if err := <-answer; err != nil {
		t.Errorf("an appointment: %v", err)
	}
	if _, lines, err := Calendar(ctx, &d.Program); err != nil || len(lines) <= len(d.expected.Facts.Calendar) || !strings.Contains(strings.Join(lines, "\n"), "Picnic") {
		t.Errorf("the calendar has %q, %v", lines, err)
	}
	message, answer := d.propose(t, "message_send", map[string]any{"to": d.expected.Recipient, "text": "The picnic is on."})
	if m := message.Message; m == nil || m.Address != d.expected.Address {
		t.Errorf("%s is %+v, not %s", d.expected.Recipient, m, d.expected.Address)
	}
	if _, err := d.RunAs(ctx, d.pin, "deny", message.ID); err != nil {
		t.Error(err)
	}
	if err := <-answer; err == nil || !strings.HasPrefix(err.Error(), "denied") {
		t.Errorf("a message: %v", err)
	}
	var list []action
	if err := d.Get(ctx, &list, "actions", "list", "--limit", "1000"); err != nil {
		t.Fatal(err)
	}
	if n := len(d.expected.Facts.Actions) + 2; len(list) != n || list[0].State != "denied" || list[1].State != "done" {
		t.Errorf("%d actions of %d, the newest %+v", len(list), n, list[0])
	}
}

// propose has an agent ask for an action, and returns it when it waits for the
// owner. The answer comes when it is over.
func (d *directory) propose(t *testing.T, tool string, args map[string]any) (action, <-chan error) {
	t.Helper()
	answer := make(chan error, 1)
	go func() {
		var outcome struct{ Status, Error string }
		err := d.CallAs(t.Context(), d.expected.Key, tool, args, &outcome)
		if err == nil && outcome.Status != "ok" {
			err = errors.New(outcome.Error)
		}
		answer <- err
	}()
	var found []action
	hubtest.WaitUntil(t, 20*time.Second, tool+" waits for the owner", func() bool {
		if len(answer) > 0 {
			t.Fatalf("%s: %v", tool, <-answer)
		}
		found = d.pending(t)
		return len(found) == 1
	})
	return found[0], answer
}

// checkAudit verifies the audit without a hub. What was verified before must
// still be there, unchanged and with more behind it.
func (d *directory) checkAudit(t *testing.T) {
	t.Helper()
	var report struct{ Records, Covered, Head int }
	if err := d.Get(t.Context(), &report, "audit", "verify"); err != nil {
		t.Error(err)
	}
	lines, err := d.RunCommand(t.Context(), "audit", "export")
	if err != nil {
		t.Error(err)
	}
	if n := strings.Count(lines, "\n"); n != report.Records || report.Covered != n {
		t.Errorf("%d records were exported of %d, %d of them covered by a checkpoint", n, report.Records, report.Covered)
	}
	if d.audit == "" { // as the earlier version left it
		if report.Records != d.expected.AuditRecords {
			t.Errorf("%d records, and there were %d", report.Records, d.expected.AuditRecords)
		}
		d.checkAuditKeys(t, lines)
	} else if report.Records <= d.records || !strings.HasPrefix(lines, d.audit) {
		t.Errorf("%d records after %d, or the first ones are others", report.Records, d.records)
	} else if report.Head != report.Records { // the earlier version did not tell the store
		t.Errorf("the store knows of %d records of %d", report.Head, report.Records)
	}
	d.records, d.audit = report.Records, lines
}

// checkAuditKeys checks that the audit's keys are the same.
func (d *directory) checkAuditKeys(t *testing.T, lines string) {
	t.Helper()
	if key, err := d.RunCommand(t.Context(), "audit", "key"); err != nil || strings.TrimSpace(key) != d.expected.AuditKey {
		t.Errorf("the audit's key is %q and was %q, %v", key, d.expected.AuditKey, err)
	}
	hash, err := d.RunCommand(t.Context(), "audit", "hash", d.expected.AuditedText)
	if hash = strings.TrimSpace(hash); err != nil || hash == "" || !strings.Contains(lines, hash) {
		t.Errorf("%q is %q in the audit, and not found there: %v", d.expected.AuditedText, hash, err)
	}
}
