package act_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
)

// What cannot be an action is refused with a code that agents know, and
// nothing is kept of it.
func TestPropose_BadInput(t *testing.T) {
	run(t, func(w *world) {
		soon := time.Now().Add(time.Hour).Format(time.RFC3339)
		calendar := func(c act.CalendarArgs) act.Request {
			return act.Request{Principal: act.Local, Tool: hearken.CalendarCreate, Calendar: &c}
		}
		message := func(m act.MessageArgs) act.Request {
			return act.Request{Principal: act.Local, Tool: hearken.MessageSend, Message: &m}
		}
		reminder := func(r act.ReminderArgs) act.Request {
			return act.Request{Principal: act.Local, Tool: hearken.ReminderCreate, Reminder: &r}
		}
		for name, tt := range map[string]struct {
			req  act.Request
			code hearken.Code
		}{
			"NoSuchKey":       {act.Request{Principal: "key_x", Tool: hearken.MessageSend, Message: &act.MessageArgs{To: "Bob", Text: "x"}}, hearken.Unauthorized},
			"Loopback":        {act.Request{Principal: "loopback", Tool: hearken.MessageSend, Message: &act.MessageArgs{To: "Bob", Text: "x"}}, hearken.Unauthorized},
			"NoSuchTool":      {act.Request{Principal: act.Local, Tool: "rocket.launch"}, hearken.Invalid},
			"OtherArguments":  {act.Request{Principal: act.Local, Tool: hearken.MessageSend, Reminder: &act.ReminderArgs{}}, hearken.Invalid},
			"NoTitle":         {calendar(act.CalendarArgs{Start: soon, Minutes: 30}), hearken.Invalid},
			"TitleOfTwoLines": {calendar(act.CalendarArgs{Title: "a\nb", Start: soon, Minutes: 30}), hearken.Invalid},
			"NoTime":          {calendar(act.CalendarArgs{Title: "a", Minutes: 30}), hearken.InvalidTime},
			"DateOnly":        {calendar(act.CalendarArgs{Title: "a", Start: "2000-02-01", Minutes: 30}), hearken.InvalidTime},
			"Past":            {calendar(act.CalendarArgs{Title: "a", Start: "1999-12-31T23:00:00Z", Minutes: 30}), hearken.TimeInPast},
			"NoLength":        {calendar(act.CalendarArgs{Title: "a", Start: soon}), hearken.DurationOutOfRange},
			"TooLong":         {calendar(act.CalendarArgs{Title: "a", Start: soon, Minutes: 10081}), hearken.DurationOutOfRange},
			"SkippedHour":     {calendar(act.CalendarArgs{Title: "a", Start: "2000-03-26T02:30:00", Minutes: 30}), hearken.InvalidTime},
			"DoubledHour":     {calendar(act.CalendarArgs{Title: "a", Start: "2000-10-29T02:30:00", Minutes: 30}), hearken.InvalidTime},
			"NoText":          {message(act.MessageArgs{To: "Bob", Text: "  "}), hearken.Invalid},
			"TextOfAMegabyte": {message(act.MessageArgs{To: "Bob", Text: strings.Repeat("x", 1<<20)}), hearken.Invalid},
			"Nobody":          {message(act.MessageArgs{To: "Zebulon", Text: "x"}), hearken.UnknownRecipient},
			"LineBreak":       {message(act.MessageArgs{To: "bob@example.org\r\nBcc: eve@example.org", Text: "x"}), hearken.InvalidRecipient},
			"Bidi":            {message(act.MessageArgs{To: "bob\u202e@example.org", Text: "x"}), hearken.InvalidRecipient},
			"NoConnector":     {message(act.MessageArgs{To: "+14155550100", Text: "x", Platform: "sms"}), hearken.ConnectorMissing},
			"NoNote":          {reminder(act.ReminderArgs{Time: soon}), hearken.Invalid},
			"NeverAgain":      {reminder(act.ReminderArgs{Time: soon, Note: "x", Repeat: "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"}), hearken.InvalidRepeat},
			"BurnsCPU":        {reminder(act.ReminderArgs{Time: soon, Note: "x", Repeat: "FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30"}), hearken.InvalidRepeat},
		} {
			_, err := w.queue.Propose(w.Context(), tt.req)
			if hearken.CodeOf(err) != tt.code {
				w.Errorf("%s: %v, want %s", name, err, tt.code)
			}
		}
		if all, _ := w.queue.Actions(w.Context(), hearken.ActionFilter{}); len(all) != 0 {
			w.Errorf("%d actions are kept", len(all))
		}
	})
}

// The hub looks for every text of an appointment in the transcripts.
func TestPropose_EveryText(t *testing.T) {
	run(t, func(w *world) {
		for _, tt := range []struct {
			description, location string
			args                  []string
		}{
			{"", "", []string{"title"}},
			{"pay the deposit", "", []string{"title", "description"}},
			{"", "the old town", []string{"title", "location"}},
			{"pay the deposit", "the old town", []string{"title", "description", "location"}},
		} {
			req := w.event("Dentist")
			req.Calendar.Description, req.Calendar.Location = tt.description, tt.location
			var args []string
			for _, e := range w.propose(req).Evidence {
				args = append(args, e.Arg)
			}
			if !slices.Equal(args, tt.args) {
				w.Errorf("%q and %q: %v", tt.description, tt.location, args)
			}
		}
	})
}

func TestPropose_IdempotencyKey(t *testing.T) {
	run(t, func(w *world) {
		req := w.message("hello")
		req.IdempotencyKey = "k1"
		first := w.propose(req)
		w.sleep(time.Hour)
		if again := w.propose(req); again.ID != first.ID {
			w.Errorf("an hour later: %s and %s", first.ID, again.ID)
		}
		other := w.message("good bye")
		other.IdempotencyKey = "k1"
		if _, err := w.queue.Propose(w.Context(), other); hearken.CodeOf(err) != hearken.ApprovalMismatch {
			w.Errorf("other arguments: %v", err)
		}
		req.IdempotencyKey = "k2"
		if second := w.propose(req); second.ID == first.ID {
			w.Error("another key is the same action")
		}
	})
}

// A key that asks for more and more is told to wait for its owner.
func TestPropose_Flood(t *testing.T) {
	run(t, func(w *world) {
		var err error
		n := 0
		for ; n < 100 && err == nil; n++ {
			_, err = w.queue.Propose(w.Context(), w.message(strings.Repeat("x", n+1)))
		}
		if n != 21 || hearken.CodeOf(err) != hearken.DailyLimit {
			w.Errorf("%d were taken, then %v", n-1, err)
		}
	})
}

// Texts cannot disguise what is decided about.
func TestDescribe(t *testing.T) {
	run(t, func(w *world) {
		a := w.propose(w.message("pay \u202eevil\u202c now\x1b[2J 1\u3164000"))
		got := act.Describe(a)
		for _, want := range []string{"Bob Novak <bob@example.org>", "<U+202E>evil<U+202C>", "<U+001B>[2J", "1<U+3164>000", "a program, on this computer", "WARNING   Nobody was heard saying the recipient or the text."} {
			if !strings.Contains(got, want) {
				w.Errorf("no %q in\n%s", want, got)
			}
		}
		if strings.ContainsAny(got, "\u202e\x1b\u3164") {
			w.Errorf("characters that disguise are there: %q", got)
		}
	})
}

func TestDescribe_Requester(t *testing.T) {
	for want, a := range map[string]hearken.Action{
		"asked by  claude-code 2, on this computer\n":    {Principal: act.Local, KeyName: act.Local, Client: "claude-code 2"},
		"asked by  a program, on this computer\n":        {Principal: act.Local},
		"asked by  key \"phone\" (key_a)\n":              {Principal: "key_a", KeyName: "phone"},
		"asked by  Cursor, with key \"phone\" (key_a)\n": {Principal: "key_a", KeyName: "phone", Client: "Cursor"},
		"asked by  key key_a\n":                          {Principal: "key_a"},
	} {
		if got := act.Describe(&a); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestEffect(t *testing.T) {
	for want, a := range map[string]hearken.Action{
		"created (calendar UID evt_a@hearken)": {State: hearken.ActionDone, Appointment: &hearken.Appointment{}, Receipt: "evt_a@hearken"},
		"sent (message ID <a@b>)":              {State: hearken.ActionDone, Message: &hearken.Message{}, Receipt: "<a@b>"},
		"sent":                                 {State: hearken.ActionDone, Message: &hearken.Message{}},
		"set":                                  {State: hearken.ActionDone, Reminder: &hearken.Reminder{}, Receipt: "rem_a"},
		"pending":                              {State: hearken.ActionPending, Reminder: &hearken.Reminder{}},
		"denied (the owner said no.)":          {State: hearken.ActionDenied, Message: &hearken.Message{}, Error: "denied: the owner said no."},
	} {
		if got := act.Effect(&a); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
