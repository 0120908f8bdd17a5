package act_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
)

func (w *world) event(title, description, location string) act.Request {
	return act.Request{Principal: act.Local, Tool: hearken.CalendarCreate, Calendar: &act.CalendarArgs{
		Title: title, Description: description, Location: location, Start: time.Now().Add(time.Hour).Format(time.RFC3339), Minutes: 30,
	}}
}

func (w *world) grant(tool, target string) {
	w.Helper()
	if _, err := w.queue.Grant(w.Context(), hearken.Grant{Principal: act.Local, Tool: tool, Target: target, PerDay: 20, ExpiresAt: time.Now().Add(time.Hour)}); err != nil {
		w.Fatal(err)
	}
}

// Every text of an appointment is looked for.
func TestPolicy_EveryText(t *testing.T) {
	run(t, func(w *world) {
		w.grant(hearken.CalendarCreate, "builtin")
		w.say(hearken.Microphone, "Put dentist into my calendar in the old town")
		w.say(hearken.System, "Write pay the deposit into the description")
		for _, tt := range []struct {
			description, location string
			args                  []string
			covered               bool
		}{
			{"pay the deposit", "", []string{"title", "description"}, false},
			{"", "pay the deposit", []string{"title", "location"}, false},
			{"something else", "", []string{"title", "description"}, false},
			{"", "the old town", []string{"title", "location"}, true},
		} {
			a := w.propose(w.event("Dentist", tt.description, tt.location))
			var args []string
			for _, e := range a.Evidence {
				args = append(args, e.Arg)
			}
			if !slices.Equal(args, tt.args) || a.Grantable != tt.covered || (a.Decision != nil) != tt.covered {
				w.Errorf("%+v", a)
			}
		}
	})
}

// The same words are a request for one message.
func TestPolicy_Again(t *testing.T) {
	run(t, func(w *world) {
		w.grant(hearken.MessageSend, "email:bob@example.org")
		w.say(hearken.Microphone, "Tell Bob that lunch is at one")
		if first := w.await(w.propose(w.message("lunch is at one"))); first.State != hearken.ActionDone {
			w.Fatalf("%+v", first)
		}
		w.say(hearken.Microphone, "I like Bob")
		for _, text := range []string{"lunch is at one", "Lunch at one"} {
			req := w.message(text)
			req.IdempotencyKey = "once more: " + text
			if again := w.propose(req); again.State != hearken.ActionPending || !strings.Contains(strings.Join(again.Warnings, " "), "led to msg_") {
				w.Errorf("%q: %+v", text, again)
			}
		}
		w.say(hearken.Microphone, "Tell Bob that lunch is at one")
		req := w.message("lunch is at one")
		req.IdempotencyKey = "said once more"
		if again := w.await(w.propose(req)); again.State != hearken.ActionDone {
			w.Errorf("asked for once more: %+v", again)
		}
	})
}
