package storetest

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
)

// actionID is the n-th id of a tool's actions; higher ones sort after lower
// ones.
func actionID(prefix string, n int) string {
	digits := strings.Map(func(r rune) rune { return r - '0' + 'a' }, fmt.Sprintf("%016d", n))
	return prefix + digits
}

// number is the n with which actionID made an id.
func number(id string) string {
	return strings.TrimLeft(strings.Map(func(r rune) rune { return r - 'a' + '0' }, id[4:]), "0")
}

// message is a plain action that was requested n minutes after noon.
func message(n int) *hearken.Action {
	at := noon.Add(time.Duration(n) * time.Minute)
	return &hearken.Action{
		ID: actionID("msg_", n), Tool: hearken.MessageSend, Principal: "local", State: hearken.ActionPending,
		Message:   &hearken.Message{To: "Anna", Address: "anna@example.com", Platform: "email", Text: "On Friday."},
		Connector: "email", Target: "anna@example.com", Digest: fmt.Sprint("digest ", n), IdempotencyKey: fmt.Sprint("same ", n),
		CreatedAt: at, ExpiresAt: at.Add(time.Hour),
	}
}

// fullAction has a value in every field, which no real action has.
func fullAction() *hearken.Action {
	berlin := time.FixedZone("", 3600)
	a := message(1)
	a.KeyName, a.Client, a.State = "laptop", "Claude 二", hearken.ActionDone
	a.Appointment = &hearken.Appointment{
		Title: "Contract", Start: time.Date(2026, 3, 20, 10, 0, 0, 123456789, berlin), Zone: "Europe/Berlin",
		Duration: 45*time.Minute + 1, Description: "\"quoted\"\n<b>&amp;</b>", Location: "Straße 1",
	}
	a.Message.Name, a.Message.Known, a.Message.Own = "Anna Å", true, true
	a.Message.Text = "\x00 \u2028 </script> \U0001f600 \\u0000"
	a.Reminder = &hearken.Reminder{At: time.Date(2026, 3, 29, 2, 30, 0, 0, berlin), Zone: "Europe/Berlin", Note: "call", Repeat: "FREQ=DAILY"}
	a.Evidence = []hearken.Evidence{{
		Arg: "text", Source: hearken.Microphone, Session: id(1), Segment: "segment", Line: 7, Start: 12.3456789, End: 0.1 + 0.2,
		At: "2026-03-14T12:00:00Z", Speaker: new(2), Quote: "on Friday", Coverage: 2.0 / 3, Echo: true, Claimed: true, Overlap: true, Deleted: true,
	}, {Arg: "to"}}
	a.Warnings, a.Grantable, a.Call = []string{"Nobody said this.", "Zwei."}, true, id(1)
	a.Decision = &hearken.Decision{Allow: true, By: "owner", From: "terminal", Grant: "grant 1", Reason: "fine", At: noon.Add(1e9)}
	a.Attempts, a.RunAt, a.EndedAt = 3, new(noon.Add(2e9)), new(noon.Add(3e9))
	a.Receipt, a.PendingAudit = "<receipt@example.com>", hearken.AuditResult
	a.Code, a.Error = hearken.ProviderTemporary, "provider_temporary: later"
	return a
}

// wantFull fails if a field of v is empty. A new field must be added to the
// sample, or nothing would show that stores keep it.
func wantFull(t *testing.T, v reflect.Value, name string) {
	t.Helper()
	switch {
	case v.IsZero():
		t.Errorf("the sample has no %s", name)
	case v.Kind() == reflect.Pointer:
		wantFull(t, v.Elem(), name)
	case v.Kind() == reflect.Slice:
		wantFull(t, v.Index(0), name)
	case v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[time.Time]():
		for i := range v.NumField() {
			wantFull(t, v.Field(i), name+"."+v.Type().Field(i).Name)
		}
	}
}

// saveAction saves an action that nobody else changes.
func saveAction(t *testing.T, store hearken.ActionStore, a *hearken.Action) {
	t.Helper()
	if saved, err := store.SaveAction(t.Context(), a); err != nil || !saved {
		t.Fatalf("save action: %t, %v", saved, err)
	}
}

func findAction(t *testing.T, store hearken.ActionStore, id string) *hearken.Action {
	t.Helper()
	a, err := store.Action(t.Context(), id)
	if err != nil {
		t.Fatalf("action: %v", err)
	}
	return a
}

// actionNumbers lists actions by the numbers of their ids.
func actionNumbers(t *testing.T, store hearken.ActionStore, f hearken.ActionFilter) string {
	t.Helper()
	found, err := store.Actions(t.Context(), f)
	if err != nil {
		t.Fatalf("actions: %v", err)
	}
	var numbers []string
	for _, a := range found {
		numbers = append(numbers, number(a.ID))
	}
	return strings.Join(numbers, " ")
}

var actionTests = []test{
	{"Saved", func(t *testing.T, store hearken.Store) {
		full := fullAction()
		full.Version = 1
		wantFull(t, reflect.ValueOf(full), "action")
		full.Version = 0
		saveAction(t, store, full)
		saveAction(t, store, message(2))
		equal(t, 1, full.Version)
		got := findAction(t, store, full.ID)
		equal(t, full, got)
		// What was approved keeps its time and its zone.
		if _, offset := got.Appointment.Start.Zone(); offset != 3600 {
			t.Errorf("the appointment is at %v", got.Appointment.Start)
		}
		list, err := store.Actions(t.Context(), hearken.ActionFilter{IdempotencyKey: full.IdempotencyKey})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, []hearken.Action{*full}, list)
		bare := &hearken.Action{ID: actionID("evt_", 3), CreatedAt: noon}
		saveAction(t, store, bare)
		equal(t, bare, findAction(t, store, bare.ID))
	}},
	{"Changed", func(t *testing.T, store hearken.Store) {
		a := fullAction()
		saveAction(t, store, a)
		a.State, a.Decision, a.RunAt, a.EndedAt, a.Error, a.Warnings = hearken.ActionPending, nil, nil, nil, "", nil
		saveAction(t, store, a)
		equal(t, 2, a.Version)
		equal(t, a, findAction(t, store, a.ID))
		equal(t, "", actionNumbers(t, store, hearken.ActionFilter{Grant: "grant 1"}))
		equal(t, "1", actionNumbers(t, store, hearken.ActionFilter{States: []hearken.ActionState{hearken.ActionPending}}))
	}},
	{"Own", func(t *testing.T, store hearken.Store) { // nothing is shared with the caller
		a := fullAction()
		saveAction(t, store, a)
		a.Evidence[0].Quote, a.Message.Text, a.Decision.Allow, *a.EndedAt = "changed", "changed", false, noon
		got := findAction(t, store, a.ID)
		got.Warnings[0], got.Appointment.Title, got.Version = "changed", "changed", 7
		want := fullAction()
		want.Version = 1
		equal(t, want, findAction(t, store, a.ID))
	}},
	{"TimesOfOtherZones", func(t *testing.T, store hearken.Store) {
		a := message(1)
		at := time.Date(2026, 3, 14, 21, 0, 0, 123456789, time.FixedZone("", 9*3600))
		a.CreatedAt, a.ExpiresAt, a.RunAt, a.EndedAt, a.Decision = at, at, &at, &at, &hearken.Decision{At: at}
		saveAction(t, store, a)
		got, want := findAction(t, store, a.ID), at.Truncate(time.Microsecond).UTC()
		for i, at := range []time.Time{got.CreatedAt, got.ExpiresAt, *got.RunAt, *got.EndedAt, got.Decision.At} {
			if at != want {
				t.Errorf("time %d is %v, want %v", i, at, want)
			}
		}
	}},
	{"Version", func(t *testing.T, store hearken.Store) {
		try := func(version int, reason string, want bool) {
			t.Helper()
			a := message(1)
			a.Version, a.Error = version, reason
			saved, err := store.SaveAction(t.Context(), a)
			if err != nil || saved != want {
				t.Errorf("version %d: %t, %v", version, saved, err)
			}
			if want {
				version++
			}
			equal(t, version, a.Version)
		}
		try(1, "there is none", false)
		try(-1, "there is none", false)
		_, err := store.Action(t.Context(), message(1).ID)
		wantCode(t, err, hearken.NotFound)
		try(0, "first", true)
		try(0, "again", false)
		try(2, "early", false)
		try(1, "second", true)
		try(1, "late", false)
		try(0, "again", false)
		got := findAction(t, store, message(1).ID)
		if got.Error != "second" || got.Version != 2 {
			t.Errorf("%q of version %d is stored", got.Error, got.Version)
		}
	}},
	{"NotFound", func(t *testing.T, store hearken.Store) {
		saveAction(t, store, message(1))
		for _, id := range []string{
			message(2).ID, "", "x", "msg_", "../" + message(1).ID, message(1).ID + "\x00", "%", strings.ToUpper(message(1).ID), id(1),
		} {
			_, err := store.Action(t.Context(), id)
			wantCode(t, err, hearken.NotFound)
		}
	}},
	{"BadID", func(t *testing.T, store hearken.Store) {
		for _, bad := range []string{"", "x", "msg_", "../../etc", "msg_../../../../aaaa", message(1).ID + "a"} {
			a := message(1)
			a.ID = bad
			_, err := store.SaveAction(t.Context(), a)
			wantCode(t, err, hearken.Invalid)
			_, err = store.SaveAlarm(t.Context(), &hearken.Alarm{Action: bad})
			wantCode(t, err, hearken.Invalid)
		}
		equal(t, "", actionNumbers(t, store, hearken.ActionFilter{}))
	}},
	{"List", listActions},
	{"Canceled", func(t *testing.T, store hearken.Store) {
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		a := message(1)
		if saved, err := store.SaveAction(canceled, a); err == nil || saved || a.Version != 0 {
			t.Errorf("saved with a canceled context: %t, %v", saved, err)
		}
		if _, err := store.Actions(canceled, hearken.ActionFilter{}); err == nil {
			t.Error("listed with a canceled context")
		}
		if _, err := store.ForgetActions(canceled, noon); err == nil {
			t.Error("forgot with a canceled context")
		}
		saveAction(t, store, a)
	}},
	{"Forget", forgetActions},
	{"ForgetIn", forgetInActions},
	{"Appointments", forgetAppointments},
}

func listActions(t *testing.T, store hearken.Store) {
	equal(t, "", actionNumbers(t, store, hearken.ActionFilter{}))
	type states = []hearken.ActionState
	for _, tt := range []struct {
		n                       int
		tool, principal, target string
		state                   hearken.ActionState
		grant                   string
	}{ // not in their order
		{3, hearken.MessageSend, "key_1", "b", hearken.ActionDone, "g1"},
		{1, hearken.MessageSend, "local", "a", hearken.ActionPending, ""},
		{5, hearken.CalendarCreate, "key_1", "a", hearken.ActionPending, ""},
		{2, hearken.ReminderCreate, "key_2", "", hearken.ActionFailed, "g1"},
		{4, hearken.MessageSend, "key_1", "a", hearken.ActionDone, "g2"},
	} {
		a := message(tt.n)
		a.Tool, a.Principal, a.Target, a.State = tt.tool, tt.principal, tt.target, tt.state
		if a.State != hearken.ActionPending {
			a.Decision = &hearken.Decision{Allow: true, Grant: tt.grant, At: noon}
		}
		if a.State == hearken.ActionDone {
			a.PendingAudit = hearken.AuditResult
		}
		saveAction(t, store, a)
	}
	// Created at the same time as the fifth, so the id decides.
	for _, n := range []int{7, 6, 8} {
		twin := message(5)
		twin.ID, twin.IdempotencyKey = actionID("msg_", n), "same 5"
		saveAction(t, store, twin)
	}
	at := func(n int) time.Time { return message(n).CreatedAt }
	for _, tt := range []struct {
		name   string
		filter hearken.ActionFilter
		want   string
	}{
		{"all", hearken.ActionFilter{}, "8 7 6 5 4 3 2 1"},
		{"limit", hearken.ActionFilter{Limit: 3}, "8 7 6"},
		{"large limit", hearken.ActionFilter{Limit: 1000}, "8 7 6 5 4 3 2 1"},
		{"no states", hearken.ActionFilter{States: states{}}, "8 7 6 5 4 3 2 1"},
		{"a state", hearken.ActionFilter{States: states{hearken.ActionDone}}, "4 3"},
		{"two states", hearken.ActionFilter{States: states{hearken.ActionFailed, hearken.ActionDone}}, "4 3 2"},
		{"a state twice", hearken.ActionFilter{States: states{hearken.ActionDone, hearken.ActionDone}}, "4 3"},
		{"states and limit", hearken.ActionFilter{States: states{hearken.ActionPending, hearken.ActionDone}, Limit: 5}, "8 7 6 5 4"},
		{"no such state", hearken.ActionFilter{States: states{"' OR 1=1 --", "%"}}, ""},
		{"principal", hearken.ActionFilter{Principal: "key_1"}, "5 4 3"},
		{"tool", hearken.ActionFilter{Tool: hearken.ReminderCreate}, "2"},
		{"target", hearken.ActionFilter{Target: "a"}, "5 4 1"},
		{"idempotency key", hearken.ActionFilter{IdempotencyKey: "same 5"}, "8 7 6 5"},
		{"grant", hearken.ActionFilter{Grant: "g1"}, "3 2"},
		{"no such grant", hearken.ActionFilter{Grant: "g"}, ""},
		{"pending audit", hearken.ActionFilter{PendingAudit: true}, "4 3"},
		{"pending audit and target", hearken.ActionFilter{PendingAudit: true, Target: "b"}, "3"},
		{"since", hearken.ActionFilter{Since: at(3)}, "8 7 6 5 4 3"},
		{"since, a nanosecond later", hearken.ActionFilter{Since: at(3).Add(1)}, "8 7 6 5 4"},
		{"since, elsewhere", hearken.ActionFilter{Since: at(3).In(time.FixedZone("", 9*3600))}, "8 7 6 5 4 3"},
		{"principal and target", hearken.ActionFilter{Principal: "key_1", Target: "a"}, "5 4"},
		{"grant and since", hearken.ActionFilter{Grant: "g1", Since: at(3)}, "3"},
		{"idempotency key and principal", hearken.ActionFilter{IdempotencyKey: "same 5", Principal: "key_1"}, "5"},
		{"tool and state", hearken.ActionFilter{Tool: hearken.MessageSend, States: states{hearken.ActionPending}}, "8 7 6 1"},
		{"everything", hearken.ActionFilter{
			States: states{hearken.ActionDone, hearken.ActionFailed}, Principal: "key_1", Tool: hearken.MessageSend,
			Target: "a", IdempotencyKey: "same 4", Grant: "g2", Since: at(4), Limit: 1,
		}, "4"},
		{"everything but one", hearken.ActionFilter{
			States: states{hearken.ActionDone, hearken.ActionFailed}, Principal: "key_1", Tool: hearken.MessageSend,
			Target: "a", IdempotencyKey: "same 4", Grant: "g1", Since: at(4), Limit: 1,
		}, ""},
	} {
		if got := actionNumbers(t, store, tt.filter); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	// Ids of different tools sort by their letters.
	event := message(9)
	event.ID, event.CreatedAt = actionID("evt_", 9), at(5)
	saveAction(t, store, event)
	equal(t, "8 7 6 5 9", actionNumbers(t, store, hearken.ActionFilter{Since: at(5)}))
}

// An appointment is kept until it is over, however long ago it was made.
func forgetAppointments(t *testing.T, store hearken.Store) {
	const day = 24 * time.Hour
	for n, state := range []hearken.ActionState{hearken.ActionDone, hearken.ActionUndone} {
		a := message(n + 1)
		a.Message, a.State, a.EndedAt = nil, state, new(noon)
		a.Appointment = &hearken.Appointment{Title: "Dentist", Start: noon.Add(200 * day), Zone: "UTC", Duration: time.Hour}
		saveAction(t, store, a)
	}
	for _, tt := range []struct {
		after time.Duration
		want  int
		left  string
	}{{100 * day, 1, "1"}, {200 * day, 0, "1"}, {201 * day, 1, ""}} {
		n, err := store.ForgetActions(t.Context(), noon.Add(tt.after))
		if err != nil {
			t.Fatal(err)
		}
		equal(t, tt.want, n)
		equal(t, tt.left, actionNumbers(t, store, hearken.ActionFilter{}))
	}
}

func forgetActions(t *testing.T, store hearken.Store) {
	const day = 24 * time.Hour
	forget := func(before time.Time, want int, left string) {
		t.Helper()
		n, err := store.ForgetActions(t.Context(), before)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, want, n)
		equal(t, left, actionNumbers(t, store, hearken.ActionFilter{}))
	}
	forget(noon, 0, "")
	for n, tt := range []struct {
		state hearken.ActionState
		ended time.Duration // after noon; 0 for not yet
	}{
		{hearken.ActionPending, 0},
		{hearken.ActionApproved, day}, // no end counts before it is final
		{hearken.ActionExecuting, 0},
		{hearken.ActionDone, day}, // 4
		{hearken.ActionFailed, 2 * day},
		{hearken.ActionUnknown, day},
		{hearken.ActionDenied, day},
		{hearken.ActionExpired, day},
		{hearken.ActionCancelled, day},
		{hearken.ActionUndone, day},
		{hearken.ActionDone, day}, // 11 to 14 are reminders
		{hearken.ActionDone, day},
		{hearken.ActionDone, day},
		{hearken.ActionDone, day},
	} {
		a := message(n + 1)
		a.State = tt.state
		if tt.ended > 0 {
			a.EndedAt = new(noon.Add(tt.ended))
		}
		saveAction(t, store, a)
	}
	repeats := &hearken.Alarm{Action: message(11).ID, Next: noon.Add(9 * day), Fired: new(noon)}
	firing := &hearken.Alarm{Action: message(12).ID, Firing: new(noon)}
	over := &hearken.Alarm{Action: message(13).ID, Fired: new(noon)}
	for _, a := range []*hearken.Alarm{repeats, firing, over} {
		saveAlarm(t, store, a)
	}
	forget(noon.Add(day), 0, "14 13 12 11 10 9 8 7 6 5 4 3 2 1")
	forget(noon.Add(day+1), 8, "12 11 5 3 2 1")
	equal(t, "12 11", alarmNumbers(t, store, time.Time{}))
	forget(noon.Add(day+1), 0, "12 11 5 3 2 1")
	_, err := store.Action(t.Context(), message(4).ID)
	wantCode(t, err, hearken.NotFound)
	// After its last alarm an action can be forgotten.
	repeats.Next, firing.Firing = time.Time{}, nil
	saveAlarm(t, store, repeats)
	saveAlarm(t, store, firing)
	forget(noon.Add(3*day), 3, "3 2 1")
	equal(t, "", alarmNumbers(t, store, time.Time{}))
	// The id of a forgotten action can be used again.
	saveAction(t, store, message(4))
	equal(t, "4 3 2 1", actionNumbers(t, store, hearken.ActionFilter{}))
}
