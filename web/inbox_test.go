package web_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
)

// An inbox is the part of the inbox that tests check.
type inbox struct {
	Paused          bool
	Problem         *struct{ Message string }
	Pending, Recent []card
	Calls           []callInfo
	Grants          []struct{ ID, KeyName string }
}

type card struct {
	ID, State, Warning, KeyName, Schedule string
	Undo, Collected                       bool
	When, End                             *struct{ Day, Clock, Zone, Offset string }
	Before                                *struct {
		Differs []struct{ Arg, Was string }
	}
}

type callInfo struct {
	ID, Title                    string
	Live, Deleted                bool
	StartedAt, EndedAt, DecideBy *time.Time
}

func inboxOf(t testing.TB, e event) inbox {
	t.Helper()
	var in struct{ Inbox inbox }
	if err := json.Unmarshal([]byte(e.data), &in); err != nil || e.name != "inbox" {
		t.Fatalf("event %q: %v", e.name, err)
	}
	return in.Inbox
}

func ids(list []card) string {
	var names []string
	for _, c := range list {
		names = append(names, c.ID)
	}
	return strings.Join(names, " ")
}

func TestEvents(t *testing.T) {
	h := open(t, nil)
	first, second := newAction(t, "one"), newAction(t, "two")
	h.queue.put(first)
	v := h.signedIn(t)
	events, end := v.follow(t.Context())
	if in := inboxOf(t, next(t, events)); ids(in.Pending) != first.ID || in.Pending[0].KeyName != "laptop" {
		t.Errorf("at first: %+v", in)
	}
	h.queue.put(second)
	if in := inboxOf(t, next(t, events)); ids(in.Pending) != second.ID+" "+first.ID {
		t.Errorf("the newest is not first: %s", ids(in.Pending))
	}
	v.want(200, "POST", "actions/"+first.ID+"/decision", map[string]any{"digest": first.Digest, "allow": true}, nil)
	if in := inboxOf(t, next(t, events)); ids(in.Pending) != second.ID || ids(in.Recent) != first.ID || in.Recent[0].Undo {
		t.Errorf("after a decision: %+v", in)
	}
	h.queue.change(func() { h.queue.problem = hearken.Errorf(hearken.AuditUnavailable, "The audit cannot be written.") })
	if in := inboxOf(t, next(t, events)); in.Problem == nil || in.Problem.Message != "The audit cannot be written." {
		t.Errorf("a problem: %+v", in.Problem)
	}
	h.queue.change(func() { h.queue.problem = nil; h.queue.broken = errDisk })
	if e := next(t, events); e.name != "trouble" || strings.Contains(e.data, "disk") {
		t.Errorf("a broken queue: %+v", e)
	}
	h.queue.change(func() { h.queue.broken = nil })
	next(t, events)
	end()
	for range events { // ends, or the test does not
	}
}

// A change that shows nothing new sends nothing.
func TestEvents_OnlyNews(t *testing.T) {
	h := open(t, nil)
	v := h.signedIn(t)
	events, end := v.follow(t.Context())
	defer end()
	next(t, events)
	for range 3 {
		h.queue.change(func() {})
	}
	h.queue.put(newAction(t, "news"))
	if in := inboxOf(t, next(t, events)); len(in.Pending) != 1 {
		t.Errorf("something without news was sent: %+v", in)
	}
}

// A change while the queue is being read is sent, too.
func TestEvents_NoneMissed(t *testing.T) {
	h := open(t, nil)
	a := newAction(t, "meanwhile")
	h.queue.during = func() { h.queue.put(a) }
	events, end := h.signedIn(t).follow(t.Context())
	defer end()
	if in := inboxOf(t, next(t, events)); len(in.Pending) != 0 {
		t.Errorf("at first: %+v", in)
	}
	if in := inboxOf(t, next(t, events)); ids(in.Pending) != a.ID {
		t.Errorf("then: %+v", in)
	}
}

func TestDecide(t *testing.T) {
	h := open(t, nil)
	v := h.signedIn(t)
	grantable, refused := newAction(t, "one"), newAction(t, "two")
	h.queue.put(grantable)
	h.queue.put(refused)
	var out struct {
		Action  card
		Decided bool
	}
	path := func(a hearken.Action) string { return "actions/" + a.ID + "/decision" }
	v.want(200, "POST", path(grantable), map[string]any{"digest": grantable.Digest, "allow": true, "grant": map[string]int{"hours": 720, "perDay": 3}}, &out)
	if !out.Decided || out.Action.State != "done" || out.Action.KeyName != "laptop" {
		t.Errorf("allowed: %+v", out)
	}
	v.want(200, "POST", path(refused), map[string]any{"digest": refused.Digest, "allow": false, "reason": "not now"}, &out)
	v.want(200, "POST", path(refused), map[string]any{"digest": refused.Digest, "allow": true}, &out)
	if out.Decided || out.Action.State != "denied" {
		t.Errorf("a second decision: %+v", out)
	}
	want := []act.DecisionRequest{
		{ID: grantable.ID, Digest: grantable.Digest, Allow: true, By: "owner", From: "page", Grant: &act.GrantBounds{For: 720 * time.Hour, PerDay: 3}},
		{ID: refused.ID, Digest: refused.Digest, By: "owner", From: "page", Reason: "not now"},
	}
	if diff := cmp.Diff(want, h.queue.decisions()); diff != "" {
		t.Error(diff)
	}
}

func TestDecide_Refused(t *testing.T) {
	h := open(t, nil)
	v := h.signedIn(t)
	a := newAction(t, "one")
	h.queue.put(a)
	path := "actions/" + a.ID + "/decision"
	for name, tt := range map[string]struct {
		status int
		path   string
		body   any
	}{
		"OtherDigest":  {409, path, map[string]any{"digest": "sha256:other", "allow": true}},
		"NoDigest":     {409, path, map[string]any{"allow": true}},
		"NoAction":     {404, "actions/msg_aaaaaaaaaaaaaaaa/decision", map[string]any{"digest": "x", "allow": true}},
		"LongReason":   {400, path, map[string]any{"digest": a.Digest, "reason": strings.Repeat("x", 1001)}},
		"LongBody":     {400, path, map[string]any{"digest": a.Digest, "reason": strings.Repeat("x", 20_000)}},
		"UnknownField": {400, path, map[string]any{"digest": a.Digest, "allow": true, "force": true}},
		"NotJSON":      {400, path, "yes"},
		"GrantForEver": {400, path, map[string]any{"digest": a.Digest, "allow": true, "grant": map[string]int{"hours": 721, "perDay": 1}}},
		"GrantNone":    {400, path, map[string]any{"digest": a.Digest, "allow": true, "grant": map[string]int{"hours": 1, "perDay": 0}}},
		"GrantDenied":  {400, path, map[string]any{"digest": a.Digest, "allow": false, "grant": map[string]int{"hours": 1, "perDay": 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			v := *v
			v.t = t
			v.want(tt.status, "POST", tt.path, tt.body, nil)
		})
	}
	if got := h.queue.decisions(); len(got) != 0 {
		t.Errorf("decided: %+v", got)
	}
}

// If many pages decide at the same time, one decision counts and the other pages
// learn which.
func TestDecide_Race(t *testing.T) {
	h := open(t, nil)
	a := newAction(t, "one")
	h.queue.put(a)
	v := h.signedIn(t)
	var decided atomic.Int32
	var states sync.Map
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			res := v.send("POST", "actions/"+a.ID+"/decision", map[string]any{"digest": a.Digest, "allow": i%2 == 0})
			defer res.Body.Close()
			var out struct {
				Action  card
				Decided bool
			}
			if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
				t.Error(err)
			}
			if out.Decided {
				decided.Add(1)
			}
			states.Store(out.Action.State, true)
		})
	}
	all.Wait()
	n := 0
	states.Range(func(any, any) bool { n++; return true })
	if decided.Load() != 1 || n != 1 || len(h.queue.decisions()) != 1 {
		t.Errorf("%d decided, %d states seen", decided.Load(), n)
	}
}

func TestCancelRevokePause(t *testing.T) {
	h := open(t, nil)
	v := h.signedIn(t)
	sent, event := newAction(t, "sent"), newAction(t, "")
	sent.State, event.State = hearken.ActionDone, hearken.ActionDone
	event.ID, event.Tool, event.Message = hearken.NewActionID(hearken.CalendarCreate), hearken.CalendarCreate, nil
	event.Appointment = &hearken.Appointment{Title: "Contract", Start: callAt, Zone: "Europe/Berlin", Duration: 30 * time.Minute}
	h.queue.put(sent)
	h.queue.put(event)
	h.queue.grants = []hearken.Grant{
		{ID: "grn_1", Principal: "key_laptop", ExpiresAt: time.Now().Add(time.Hour)},
		{ID: "grn_over", ExpiresAt: time.Now().Add(-time.Hour)},
	}
	events, end := v.follow(t.Context())
	defer end()
	in := inboxOf(t, next(t, events))
	if len(in.Grants) != 1 || in.Grants[0].KeyName != "laptop" || !in.Recent[0].Undo || in.Recent[1].Undo {
		t.Errorf("%+v", in)
	}
	if got := v.want(409, "POST", "actions/"+sent.ID+"/cancel", struct{}{}, nil); got != "cannot_undo: What was sent cannot be taken back." {
		t.Error(got)
	}
	v.want(200, "POST", "actions/"+event.ID+"/cancel", struct{}{}, nil)
	v.want(200, "POST", "grants/grn_1/revoke", struct{}{}, nil)
	v.want(404, "POST", "grants/grn_2/revoke", struct{}{}, nil)
	v.want(200, "POST", "pause", map[string]bool{"paused": true}, nil)
	for in = inboxOf(t, next(t, events)); !in.Paused; in = inboxOf(t, next(t, events)) {
	}
	if len(in.Grants) != 0 || h.queue.state(event.ID) != hearken.ActionUndone {
		t.Errorf("%+v", in)
	}
	v.want(200, "POST", "pause", map[string]bool{"paused": false}, nil)
	if h.queue.Paused() {
		t.Error("still paused")
	}
}

// What a card contains besides the action itself.
func TestCard(t *testing.T) {
	earlier, now := newAction(t, "the old text"), newAction(t, "the new text")
	earlier.State, earlier.Decision = hearken.ActionDone, &hearken.Decision{Allow: true, By: "owner", At: callAt}
	far, echo, overlap, none, unheard := newAction(t, ""), newAction(t, ""), newAction(t, ""), newAction(t, ""), newAction(t, "")
	far.Evidence[0].Echo, far.Evidence[1].Source = true, hearken.System
	echo.Evidence[0].Overlap, echo.Evidence[1].Source, echo.Evidence[1].Echo = true, hearken.System, true
	overlap.Evidence[0], overlap.Evidence[1].Overlap = hearken.Evidence{Arg: "to"}, true
	none.Evidence[1] = hearken.Evidence{Arg: "text"}
	unheard.Evidence = nil
	for _, a := range []*hearken.Action{&far, &echo, &overlap, &none, &unheard} {
		a.Target = "email:nobody@example.org"
	}
	meeting := newAction(t, "")
	meeting.Tool, meeting.Message = hearken.CalendarCreate, nil
	meeting.Appointment = &hearken.Appointment{Title: "Night", Start: time.Date(2026, 10, 25, 1, 30, 0, 0, time.UTC), Zone: "Europe/Berlin", Duration: 30 * time.Minute}
	h := open(t, nil)
	for _, a := range []hearken.Action{earlier, now, far, echo, overlap, none, unheard, meeting} {
		h.queue.put(a)
	}
	v := h.signedIn(t)
	events, end := v.follow(t.Context())
	defer end()
	cards := map[string]card{}
	for _, c := range inboxOf(t, next(t, events)).Pending {
		cards[c.ID] = c
	}
	for id, want := range map[string]string{now.ID: "", far.ID: "far", echo.ID: "echo", overlap.ID: "overlap", none.ID: "none", unheard.ID: "none"} {
		if got := cards[id].Warning; got != want {
			t.Errorf("warning %q, want %q", got, want)
		}
	}
	if c := cards[meeting.ID]; c.When.Day != "Sunday, 25 October 2026" || c.When.Clock != "02:30" || c.When.Offset != "CET, UTC+01:00" || c.When.Zone != "Europe/Berlin" || c.End.Clock != "03:00" {
		t.Errorf("the second half past two of an autumn night: %+v %+v", c.When, c.End)
	}
	if b := cards[now.ID].Before; b == nil || fmt.Sprint(b.Differs) != "[{text the old text}]" {
		t.Errorf("before: %+v", b)
	}
	if cards[far.ID].Before != nil {
		t.Error("a target that was never allowed has a past")
	}
}
