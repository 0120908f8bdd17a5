//go:build !windows

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
)

// A terminal is where the owner types, with a hub whose PIN is in a file.
type terminal struct {
	*testing.T
	app            *App
	p              *program
	stdout, stderr bytes.Buffer
}

func newTerminal(t *testing.T) *terminal {
	t.Helper()
	cfg := testConfig(t)
	cfg.OwnerPINFile = filepath.Join(t.TempDir(), "pin")
	if err := os.WriteFile(cfg.OwnerPINFile, []byte("482916\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(receiver.Close)
	cfg.NtfyURL, cfg.WebhookURL = receiver.URL+"/ada", receiver.URL+"/hook"
	cfg.WebhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	o := &terminal{T: t, app: openApp(t, cfg, Options{PINRounds: 1000})}
	if err := o.app.owner.SetPIN("", "482916"); err != nil {
		t.Fatal(err)
	}
	o.p = &program{cfg: cfg, stdout: &o.stdout, stderr: &o.stderr}
	return o
}

// event requests an appointment.
func (o *terminal) event(title string) *hearken.Action {
	o.Helper()
	return o.propose(act.Request{Principal: act.Local, Tool: hearken.CalendarCreate, Calendar: &act.CalendarArgs{
		Title: title, Start: time.Now().Add(48 * time.Hour).Format(time.RFC3339), Minutes: 30,
	}})
}

// message requests a message to somebody else.
func (o *terminal) message(text string) *hearken.Action {
	o.Helper()
	return o.propose(act.Request{Principal: act.Local, Tool: hearken.MessageSend, Message: &act.MessageArgs{To: "webhook", Text: text}})
}

func (o *terminal) propose(req act.Request) *hearken.Action {
	o.Helper()
	a, err := o.app.queue.Propose(o.Context(), req)
	if err != nil {
		o.Fatal(err)
	}
	return a
}

// answer lets the owner decide with these lines.
func (o *terminal) answer(lines string) error {
	o.stdout.Reset()
	o.stderr.Reset()
	o.p.stdin = strings.NewReader(lines)
	return o.p.decideEach(o.Context(), act.DecisionRequest{Allow: true})
}

// want checks the states of actions.
func (o *terminal) want(want map[*hearken.Action]hearken.ActionState) {
	o.Helper()
	for a, state := range want {
		got, err := o.app.queue.Action(o.Context(), a.ID)
		if err != nil || got.State != state {
			o.Errorf("%s is %+v, %v, want %s", act.Summary(a), got, err, state)
		}
	}
}

func TestApprove_OneByOne(t *testing.T) {
	o := newTerminal(t)
	yes, no, skipped, asked, left := o.event("yes"), o.event("no"), o.event("skipped"), o.event("asked"), o.event("left")
	if err := o.answer("y\nNO\nskip\n\nmaybe\nya\ny\nq\ny\n"); err != nil {
		t.Fatal(err)
	}
	o.want(map[*hearken.Action]hearken.ActionState{
		yes: hearken.ActionDone, no: hearken.ActionDenied, skipped: hearken.ActionPending, asked: hearken.ActionDone, left: hearken.ActionPending,
	})
	if n := strings.Count(o.stderr.String(), "[y]es, "); n != 8 {
		t.Errorf("asked %d times: %s", n, &o.stderr)
	}
	if strings.Contains(o.stderr.String(), "arrived") {
		t.Errorf("nothing arrived: %s", &o.stderr)
	}
	if err := o.answer(""); err != nil { // Ctrl-D
		t.Error(err)
	}
	o.want(map[*hearken.Action]hearken.ActionState{skipped: hearken.ActionPending, left: hearken.ActionPending})
	if got, _ := o.app.queue.Action(t.Context(), yes.ID); got.Decision.By != "owner" || got.Decision.From != "file" {
		t.Errorf("decided: %+v", got.Decision)
	}
}

// readerFunc is a reader that does something first.
type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// All that are shown are approved; what arrives meanwhile is not, and is
// mentioned.
func TestApprove_AllShown(t *testing.T) {
	o := newTerminal(t)
	no, first, second := o.event("no"), o.event("first"), o.event("second")
	var late, later *hearken.Action
	answers := strings.NewReader("n\na\n")
	o.p.stdin = readerFunc(func(p []byte) (int, error) {
		if late == nil {
			late, later = o.event("late"), o.event("later")
		}
		return answers.Read(p)
	})
	if err := o.p.decideEach(t.Context(), act.DecisionRequest{Allow: true}); err != nil {
		t.Fatal(err)
	}
	o.want(map[*hearken.Action]hearken.ActionState{
		no: hearken.ActionDenied, first: hearken.ActionDone, second: hearken.ActionDone, late: hearken.ActionPending, later: hearken.ActionPending,
	})
	if out := o.stderr.String(); !strings.Contains(out, "approve [a]ll 2 shown") || !strings.Contains(out, "2 more arrived meanwhile.") {
		t.Errorf("%s", out)
	}
}

// A decision names the digest of what was shown.
func TestApprove_Digest(t *testing.T) {
	o := newTerminal(t)
	a := o.event("as it is")
	shown := *a
	shown.Digest = strings.Repeat("0", len(a.Digest))
	sender := o.p.newDecider("482916")
	if err := sender.decide(t.Context(), &shown, act.DecisionRequest{Allow: true}); err != nil {
		t.Fatal(err)
	}
	if err := sender.report(t.Context()); hearken.CodeOf(err) != hearken.ApprovalMismatch {
		t.Errorf("%v", err)
	}
	o.want(map[*hearken.Action]hearken.ActionState{a: hearken.ActionPending})
}

// Grants are offered only where they are possible, and one is enough for those
// alike.
func TestApprove_Grants(t *testing.T) {
	o := newTerminal(t)
	const offer = "[g]rant such actions"
	message := o.message("to other people")
	if err := o.answer("g\ns\n"); err != nil {
		t.Fatal(err)
	}
	o.want(map[*hearken.Action]hearken.ActionState{message: hearken.ActionPending})
	if strings.Contains(o.stderr.String(), offer) {
		t.Errorf("a grant is offered for a message: %s", &o.stderr)
	}
	a, b := o.event("one"), o.event("two")
	if err := o.answer("s\ng\ng\n"); err != nil {
		t.Fatal(err)
	}
	o.want(map[*hearken.Action]hearken.ActionState{a: hearken.ActionDone, b: hearken.ActionDone})
	if strings.Count(o.stderr.String(), offer) != 2 {
		t.Errorf("the offers: %s", &o.stderr)
	}
	grants, err := o.app.queue.Grants(t.Context())
	if err != nil || len(grants) != 1 || grants[0].Tool != hearken.CalendarCreate || grants[0].ExpiresAt.Sub(grants[0].CreatedAt).Round(time.Minute) != dayGrant {
		t.Errorf("grants: %+v, %v", grants, err)
	}
}

// With --all and --for, what cannot be granted is approved once.
func TestApprove_AllFor(t *testing.T) {
	o := newTerminal(t)
	message, event := o.message("to other people"), o.event("one")
	if err := (&approveCmd{All: true, For: time.Hour}).Run(t.Context(), o.p); err != nil {
		t.Error(err)
	}
	for _, a := range []*hearken.Action{message, event} {
		if got, err := o.app.queue.Action(t.Context(), a.ID); err != nil || got.Decision == nil || !got.Decision.Allow {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if grants, err := o.app.queue.Grants(t.Context()); err != nil || len(grants) != 1 || grants[0].Tool != hearken.CalendarCreate {
		t.Errorf("grants: %+v, %v", grants, err)
	}
	// Who names the action is told that it cannot be granted.
	another := o.message("to other people, again")
	if err := (&approveCmd{IDs: []string{another.ID}, For: time.Hour}).Run(t.Context(), o.p); hearken.CodeOf(err) != hearken.PolicyDenied {
		t.Errorf("%v", err)
	}
	o.want(map[*hearken.Action]hearken.ActionState{another: hearken.ActionPending})
}

// Without a terminal nothing is asked.
func TestApprove_NoTerminal(t *testing.T) {
	o := newTerminal(t)
	a := o.message("one")
	o.p.stdin = readerFunc(func([]byte) (int, error) {
		t.Error("standard input is read")
		return 0, io.EOF
	})
	if err := (&approveCmd{}).Run(t.Context(), o.p); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(o.stdout.String(), a.ID) || !strings.Contains(o.stderr.String(), "Try: hearken approve "+a.ID) || strings.Contains(o.stderr.String(), "--for") {
		t.Errorf("%s%s", &o.stdout, &o.stderr)
	}
	o.want(map[*hearken.Action]hearken.ActionState{a: hearken.ActionPending})
}

// A wrong PIN is told before anything is asked, and Ctrl-C ends the questions.
func TestApprove_Stopped(t *testing.T) {
	o := newTerminal(t)
	a := o.event("one")
	ctx, cancel := context.WithCancel(t.Context())
	silent, hangUp := io.Pipe()
	defer hangUp.Close()
	o.p.stdin = silent
	cancel()
	if err := o.p.askEach(ctx, o.p.newDecider("482916"), []hearken.Action{*a}, act.DecisionRequest{Allow: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("Ctrl-C: %v", err)
	}
	if err := os.WriteFile(o.p.cfg.OwnerPINFile, []byte("111999\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := o.answer("y\n"); hearken.CodeOf(err) != hearken.Unauthorized || strings.Contains(o.stderr.String(), "1 of 1") {
		t.Errorf("a wrong PIN: %v\n%s", err, &o.stderr)
	}
	o.want(map[*hearken.Action]hearken.ActionState{a: hearken.ActionPending})
}

// What was requested during a call is listed under it, the most urgent first.
func TestApprove_Calls(t *testing.T) {
	o := newTerminal(t)
	now := time.Now()
	start, end := now.Add(-time.Hour), now.Add(-20*time.Minute)
	weekly := hearken.Session{ID: uuid.NewString(), Title: "Weekly", Status: hearken.Stopped, StartedAt: start, StoppedAt: &end}
	if err := o.app.store.Save(t.Context(), &weekly, nil); err != nil {
		t.Fatal(err)
	}
	save := func(title, call string, expires time.Duration) string {
		a := o.event(title)
		stored, err := o.app.store.Action(t.Context(), a.ID)
		if err != nil {
			t.Fatal(err)
		}
		stored.Call, stored.ExpiresAt = call, now.Add(expires)
		if ok, err := o.app.store.SaveAction(t.Context(), stored); !ok || err != nil {
			t.Fatal(ok, err)
		}
		return a.ID
	}
	deleted := save("of a deleted call", uuid.NewString(), 12*time.Hour)
	late := save("later", weekly.ID, 12*time.Hour) // the end of the call has not been noticed
	soon := save("soon", weekly.ID, 5*time.Minute)
	alone := save("alone", "", 7*time.Minute)
	if err := o.answer("q\n"); err != nil {
		t.Fatal(err)
	}
	out, at := o.stdout.String(), 0
	for _, want := range []string{
		"During the call 'Weekly' (" + clockTime(start, now) + ", ended " + clockTime(end, now) + "); decide by " + clockTime(end.Add(30*time.Minute), now) + ":",
		soon, "decide by " + clockTime(now.Add(5*time.Minute), now), late,
		"Not during a call:", alone, "decide by " + clockTime(now.Add(7*time.Minute), now),
		"During a call that was deleted; decide by ", deleted,
	} {
		i := strings.Index(out[at:], want)
		if i < 0 {
			t.Fatalf("no %q in\n%s", want, out[at:])
		}
		at += i + len(want)
	}
	if strings.Count(out, "decide by") != 4 {
		t.Errorf("\n%s", out)
	}
}

func TestCallGroup_Heading(t *testing.T) {
	now := time.Date(2026, 11, 15, 15, 0, 0, 0, time.Local)
	at := func(hour, minute int) time.Time { return time.Date(2026, 11, 15, hour, minute, 0, 0, time.Local) }
	actions := []hearken.Action{{ExpiresAt: at(14, 50)}, {ExpiresAt: at(15, 10)}}
	for want, call := range map[string]*callInfo{
		"During the call 'Weekly' (14:02, ended 14:40); decide by 15:10:":                   {Title: "Weekly", Start: at(14, 2), End: at(14, 40), DecideBy: at(15, 10)},
		"During a call (14:02, ended 14:40); decide by 15:10:":                              {Start: at(14, 2), End: at(14, 40), DecideBy: at(15, 10)},
		"During a call (2026-11-14 23:02, ended 00:40); decide by 01:10:":                   {Start: at(-1, 2), End: at(0, 40), DecideBy: at(1, 10)},
		"During the call 'Week' (14:02, not over yet); decide until half an hour after it:": {Title: "We\u202eek", Start: at(14, 2)},
		"During a call that was deleted; decide by 15:10:":                                  {End: now, DecideBy: at(15, 30)},
		"Not during a call:": nil,
	} {
		g := callGroup{call: call, actions: actions}
		if got, by := g.heading(now); got != want || by != "" && !strings.HasSuffix(got, "decide by "+by+":") {
			t.Errorf("%q, by %q, want %q", got, by, want)
		}
	}
}
