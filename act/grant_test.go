package act_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
)

// grant lets a key use a tool on a target, 20 times a day.
func (w *world) grant(principal, tool, target string) *hearken.Grant {
	w.Helper()
	g, err := w.queue.Grant(w.Context(), hearken.Grant{Principal: principal, Tool: tool, Target: target, ExpiresAt: time.Now().Add(20 * 24 * time.Hour)})
	if err != nil {
		w.Fatal(err)
	}
	return g
}

// forceGrant puts a grant into the store that the queue would refuse.
func (w *world) forceGrant(principal, tool, target string) string {
	w.Helper()
	g := hearken.Grant{
		ID: "grn_" + target, Principal: principal, Tool: tool, Target: target, PerDay: 20,
		CreatedAt: time.Now(), ExpiresAt: time.Now().Add(20 * 24 * time.Hour),
	}
	if err := w.store.SaveGrant(w.Context(), &g); err != nil {
		w.Fatal(err)
	}
	return g.ID
}

// key makes a key with toolsets.
func (w *world) key(name string, toolsets ...string) string {
	w.Helper()
	k, _ := hearken.NewKey(name, time.Now(), toolsets)
	if err := w.store.SaveKey(w.Context(), &k); err != nil {
		w.Fatal(err)
	}
	return k.ID
}

// ranByGrant reports whether an action was carried out under a grant.
func (w *world) ranByGrant(a *hearken.Action) bool {
	w.Helper()
	w.sleep(0)
	got := w.action(a.ID)
	return got.State == hearken.ActionDone && got.Decision.By == "grant"
}

// A grant covers appointments and reminders, and nobody need have said a word.
func TestGrant_WithoutWords(t *testing.T) {
	run(t, func(w *world) {
		if a := w.propose(w.event("before")); a.State != hearken.ActionPending || !a.Grantable {
			w.Errorf("without a grant: %+v", a)
		}
		w.grant(act.Local, hearken.CalendarCreate, "builtin")
		if a := w.propose(w.event("Dentist")); !w.ranByGrant(a) || w.calendar.count() != 1 {
			w.Errorf("an appointment: %+v", a)
		}
		if a := w.propose(w.reminder("Call Bob", time.Hour)); a.State != hearken.ActionPending {
			w.Errorf("another tool: %+v", a)
		}
		w.grant(act.Local, hearken.ReminderCreate, "builtin")
		if a := w.propose(w.reminder("Call Eve", time.Hour)); !w.ranByGrant(a) || w.clock.count() != 1 {
			w.Errorf("a reminder: %+v", a)
		}
		other := w.event("of another key")
		other.Principal = w.key("other")
		if a := w.propose(other); a.State != hearken.ActionPending {
			w.Errorf("another key: %+v", a)
		}
	})
}

// A grant ends by its daily limit, and counts anew the next day.
func TestGrant_PerDay(t *testing.T) {
	run(t, func(w *world) {
		if _, err := w.queue.Grant(w.Context(), hearken.Grant{
			Principal: act.Local, Tool: hearken.CalendarCreate, Target: "builtin", PerDay: 2, ExpiresAt: time.Now().Add(48 * time.Hour),
		}); err != nil {
			w.Fatal(err)
		}
		for _, title := range []string{"one", "two"} {
			if !w.ranByGrant(w.propose(w.event(title))) {
				w.Errorf("%s did not run", title)
			}
		}
		third := w.propose(w.event("three"))
		if third.State != hearken.ActionPending || !strings.Contains(strings.Join(third.Warnings, " "), "limit of 2 a day") {
			w.Errorf("the third: %+v", third)
		}
		w.sleep(24*time.Hour + time.Second)
		if !w.ranByGrant(w.propose(w.event("the next day"))) {
			w.Error("the next day it did not run")
		}
		w.sleep(24 * time.Hour)
		if a := w.propose(w.event("after its end")); a.State != hearken.ActionPending {
			w.Errorf("after its end: %+v", a)
		}
	})
}

// Messages to people ask, whatever was granted before and whoever is known.
func TestGrant_MessageToPerson(t *testing.T) {
	run(t, func(w *world) {
		w.forceGrant(act.Local, hearken.MessageSend, "email:bob@example.org")
		w.forceGrant(act.Local, hearken.MessageSend, "email:eve@example.org")
		w.forceGrant(act.Local, hearken.MessageSend, "webhook:hooks.example")
		w.say(hearken.Microphone, "Please write to Bob that I will be ten minutes late")
		for _, to := range []string{"Bob", "bob@example.org", "BOB@EXAMPLE.ORG", "eve@example.org", "webhook"} {
			a := w.propose(w.write(to, "I will be ten minutes late, "+to))
			w.sleep(time.Minute)
			if got := w.action(a.ID); got.State != hearken.ActionPending || got.Grantable || got.Message.Own {
				w.Errorf("%s: %+v", to, got)
			}
		}
		if bob := w.propose(w.message("known")); !bob.Message.Known {
			w.Errorf("Bob is not known: %+v", bob)
		}
		if n := w.mail.count() + w.hook.count(); n != 0 {
			w.Errorf("%d were sent", n)
		}
	})
}

// Messages to the owner's own addresses may be granted.
func TestGrant_OwnAddresses(t *testing.T) {
	run(t, func(w *world) {
		w.grant(act.Local, hearken.MessageSend, "email:Ada@Example.org")
		w.grant(act.Local, hearken.MessageSend, "ntfy:ntfy.example/ada")
		for _, to := range []string{"me", "Ada", "ada@example.org", "ntfy"} {
			a := w.propose(w.write(to, "note to myself, "+to))
			if !a.Message.Own || !w.ranByGrant(a) {
				w.Errorf("%s: %+v", to, a)
			}
		}
		// An address that somebody else has too is not the owner's alone.
		w.contact(hearken.Contact{ID: "family", Name: "Family", Emails: []string{"ADA@example.org"}})
		shared := w.propose(w.write("ada@example.org", "dinner is ready"))
		if w.sleep(time.Minute); shared.Message.Own || w.action(shared.ID).State != hearken.ActionPending {
			w.Errorf("a shared address: %+v", shared)
		}
	})
}

// What no grant can cover is refused when the grant is made, with advice.
func TestGrant_Refused(t *testing.T) {
	run(t, func(w *world) {
		w.contact(hearken.Contact{ID: "us", Name: "Us", Emails: []string{"us@example.org"}, Me: true})
		w.contact(hearken.Contact{ID: "you", Name: "You", Emails: []string{"us@example.org"}})
		for _, target := range []string{"email:bob@example.org", "email:nobody@example.org", "email:us@example.org", "webhook:hooks.example", "ntfy:ntfy.example/other"} {
			_, err := w.queue.Grant(w.Context(), hearken.Grant{Principal: act.Local, Tool: hearken.MessageSend, Target: target})
			if hearken.CodeOf(err) != hearken.PolicyDenied || !strings.Contains(err.Error(), "Messages to people always ask") || !strings.Contains(err.Error(), "Try: ") {
				w.Errorf("%s: %v", target, err)
			}
		}
		if _, err := w.queue.Grant(w.Context(), hearken.Grant{Principal: "key_gone", Tool: hearken.CalendarCreate, Target: "builtin"}); hearken.CodeOf(err) != hearken.NotFound {
			w.Errorf("a key that does not exist: %v", err)
		}
		if grants, _ := w.queue.Grants(w.Context()); len(grants) != 0 {
			w.Errorf("grants: %+v", grants)
		}
	})
}

// A decision that asks for a grant that cannot be made approves nothing.
func TestDecide_GrantForPeople(t *testing.T) {
	run(t, func(w *world) {
		a := w.propose(w.message("lunch is at one"))
		_, won, err := w.queue.Decide(w.Context(), act.DecisionRequest{ID: a.ID, Digest: a.Digest, Allow: true, By: "owner", Grant: &act.GrantBounds{For: time.Hour}})
		if won || hearken.CodeOf(err) != hearken.PolicyDenied {
			w.Errorf("%v, %v", won, err)
		}
		w.sleep(time.Minute)
		if got := w.action(a.ID); got.State != hearken.ActionPending || w.mail.count() != 0 {
			w.Errorf("%+v, %d sent", got, w.mail.count())
		}
		event := w.propose(w.event("Lunch"))
		if _, won, err := w.queue.Decide(w.Context(), act.DecisionRequest{ID: event.ID, Digest: event.Digest, Allow: true, By: "owner", Grant: &act.GrantBounds{For: time.Hour}}); err != nil || !won {
			w.Fatal(won, err)
		}
		if !w.ranByGrant(w.propose(w.event("Dinner"))) {
			w.Error("the grant that came with a decision covers nothing")
		}
	})
}

// What cannot be undone cannot be granted.
func TestGrant_OnlyUndoable(t *testing.T) {
	run(t, func(w *world) {
		w.close()
		w.cfg.Calendars, w.cfg.Reminders = []hearken.Connector{w.calendar}, []hearken.Connector{w.clock}
		w.open()
		w.forceGrant(act.Local, hearken.CalendarCreate, "builtin")
		w.forceGrant(act.Local, hearken.ReminderCreate, "builtin")
		for _, req := range []act.Request{w.event("Lunch"), w.reminder("Call Bob", time.Hour)} {
			if a := w.propose(req); a.Grantable || a.State != hearken.ActionPending {
				w.Errorf("%+v", a)
			}
		}
	})
}

// A reminder is grantable if the hub's own clock can undo it, whatever its copies
// can.
func TestGrant_ReminderCopies(t *testing.T) {
	run(t, func(w *world) {
		w.close()
		w.cfg.Reminders = append(w.cfg.Reminders, &recorder{name: "caldav"})
		w.open()
		if a := w.propose(w.reminder("Call Bob", time.Hour)); !a.Grantable {
			w.Errorf("%+v", a)
		}
	})
}

// Grants for messages that an earlier version made are revoked at the first
// start, and the owner is told once.
func TestOpen_RevokesMessageGrants(t *testing.T) {
	run(t, func(w *world) {
		own := w.grant(act.Local, hearken.MessageSend, "email:ada@example.org")
		calendar := w.grant(act.Local, hearken.CalendarCreate, "builtin")
		bob := w.forceGrant(act.Local, hearken.MessageSend, "email:bob@example.org")
		eve := w.forceGrant(w.key("agent"), hearken.MessageSend, "email:eve@example.org")
		w.notices.take()
		for range 2 {
			w.close()
			w.open()
		}
		grants, err := w.queue.Grants(w.Context())
		if err != nil {
			w.Fatal(err)
		}
		for _, g := range grants {
			if revoked := g.RevokedAt != nil; revoked != (g.ID == bob || g.ID == eve) {
				w.Errorf("%s of %s and %s: %+v", g.ID, own.ID, calendar.ID, g)
			}
		}
		told := w.notices.take()
		if len(told) != 1 || told[0].Kind != act.NoticeRevoked || !strings.Contains(told[0].Text, "2 grants for messages were revoked") {
			w.Errorf("told: %+v", told)
		}
		n := 0
		for _, r := range w.audit.all() {
			if r.Type == hearken.AuditGrant && r.State == "revoked" {
				if n++; r.By != "policy" || r.Tool != hearken.MessageSend || r.Grant != bob && r.Grant != eve {
					w.Errorf("in the audit: %+v", r)
				}
			}
		}
		if n != 2 {
			w.Errorf("%d revocations in the audit", n)
		}
	})
}

// What a grant allowed can be undone for a day without the owner's PIN; what the
// owner approved cannot.
func TestUndoGranted(t *testing.T) {
	run(t, func(w *world) {
		byOwner := w.approve(w.propose(w.event("by the owner")))
		if _, err := w.queue.UndoGranted(w.Context(), byOwner.ID); hearken.CodeOf(err) != hearken.Forbidden || !strings.Contains(err.Error(), "hearken actions undo") {
			w.Errorf("approved by the owner: %v", err)
		}
		w.grant(act.Local, hearken.CalendarCreate, "builtin")
		first, second := w.propose(w.event("first")), w.propose(w.event("second"))
		w.sleep(24 * time.Hour)
		if got, err := w.queue.UndoGranted(w.Context(), first.ID); err != nil || got.State != hearken.ActionUndone {
			w.Errorf("within a day: %+v, %v", got, err)
		}
		w.sleep(time.Second)
		if _, err := w.queue.UndoGranted(w.Context(), second.ID); hearken.CodeOf(err) != hearken.Forbidden || w.action(second.ID).State != hearken.ActionDone {
			w.Errorf("after a day: %v", err)
		}
		if len(w.calendar.undone) != 1 || w.calendar.undone[0] != first.ID {
			w.Errorf("undone: %v", w.calendar.undone)
		}
		if _, err := w.queue.UndoGranted(w.Context(), "evt_aaaaaaaaaaaaaaaa"); hearken.CodeOf(err) != hearken.NotFound {
			w.Errorf("what does not exist: %v", err)
		}
	})
}

// A message that a grant covers can be cancelled without the PIN before it is
// sent.
func TestUndoGranted_BeforeItRuns(t *testing.T) {
	run(t, func(w *world) {
		w.close()
		w.cfg.Delay = 5 * time.Second
		w.open()
		w.grant(act.Local, hearken.MessageSend, "ntfy:ntfy.example/ada")
		a := w.propose(w.write("ntfy", "wrong"))
		if got, err := w.queue.UndoGranted(w.Context(), a.ID); err != nil || got.State != hearken.ActionCancelled {
			w.Errorf("%+v, %v", got, err)
		}
		w.sleep(time.Minute)
		if w.topic.count() != 0 {
			w.Error("it was sent")
		}
	})
}

// The owner is told what a grant allowed, how to undo it, and if nobody knows
// whether it happened.
func TestGrant_Notices(t *testing.T) {
	run(t, func(w *world) {
		w.grant(act.Local, hearken.CalendarCreate, "builtin")
		w.grant(act.Local, hearken.MessageSend, "ntfy:ntfy.example/ada")
		for _, tt := range []struct {
			req     act.Request
			outcome hearken.Outcome
			title   string
			undo    bool
		}{
			{w.event("Dentist"), hearken.Outcome{Result: hearken.ResultOK}, "Done by your grant", true},
			{w.event("Nobody knows"), hearken.Outcome{Result: hearken.ResultUnknown}, "A grant was used, with an unknown result", false},
			{w.event("Refused"), hearken.Outcome{Result: hearken.ResultPermanent}, "", false},
			{w.write("ntfy", "milk"), hearken.Outcome{Result: hearken.ResultOK}, "Done by your grant", false},
		} {
			w.calendar.outcomes = []hearken.Outcome{tt.outcome}
			a := w.propose(tt.req)
			w.sleep(0)
			told := w.notices.take()
			if tt.title == "" {
				if len(told) != 0 {
					w.Errorf("%+v", told)
				}
				continue
			}
			if len(told) != 1 || told[0].Kind != act.NoticeGranted || told[0].ID != a.ID || told[0].Title != tt.title ||
				!strings.Contains(told[0].Text, act.Summary(a)) || strings.Contains(told[0].Text, "hearken undo "+a.ID) != tt.undo {
				w.Errorf("told: %+v, want %q", told, tt.title)
			}
		}
		w.approve(w.propose(w.message("by the owner")))
		for _, n := range w.notices.take() {
			if n.Kind != act.NoticePending {
				w.Errorf("about what the owner approved: %+v", n)
			}
		}
	})
}

// The owner is also told of what a grant allowed if a hub that ended left it
// unknown, or if it may have happened and is not tried again.
func TestGrant_NoticeOfUnknown(t *testing.T) {
	run(t, func(w *world) {
		w.close()
		w.cfg.Delay = time.Minute
		w.open()
		w.grant(act.Local, hearken.MessageSend, "ntfy:ntfy.example/ada")
		w.grant(act.Local, hearken.CalendarCreate, "builtin")
		w.calendar.outcomes = []hearken.Outcome{{Result: hearken.ResultTemporary, Message: "no answer."}}
		w.calendar.hook = func(*hearken.Action) { w.cfg.Exposure.Read(act.Local) }
		a, b := w.propose(w.write("ntfy", "The washing is done.")), w.propose(w.event("Lunch"))
		w.sleep(30 * time.Second)
		if told := w.told(act.NoticeGranted); len(told) == 1 && (told[0].ID != b.ID || told[0].Title != "A grant was used, with an unknown result") {
			w.Errorf("told %+v", told)
		}
		w.close()
		stored, err := w.store.Action(w.Context(), a.ID)
		if err != nil || stored.Decision == nil {
			w.Fatal(stored, err)
		}
		stored.State = hearken.ActionExecuting
		if ok, err := w.store.SaveAction(w.Context(), stored); !ok || err != nil {
			w.Fatal(ok, err)
		}
		w.open()
		if told := w.told(act.NoticeGranted); len(told) == 1 && (told[0].ID != a.ID || told[0].Title != "A grant was used, with an unknown result" || told[0].CanUndo) {
			w.Errorf("told %+v", told)
		}
		w.close()
		w.open()
		w.told() // once
	})
}
