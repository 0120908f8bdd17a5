package web_test

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/hearken-dev/hearken"
)

// past returns one action for each possible outcome.
func past(t *testing.T) []hearken.Action {
	var list []hearken.Action
	for i, state := range []hearken.ActionState{
		hearken.ActionDone, hearken.ActionFailed, hearken.ActionUnknown, hearken.ActionDenied, hearken.ActionExpired, hearken.ActionUndone, hearken.ActionApproved,
	} {
		a := newAction(t, "Text number "+string(rune('1'+i)))
		a.State = state
		at := callAt.Add(time.Duration(i) * time.Minute)
		a.Decision, a.EndedAt = &hearken.Decision{Allow: state != hearken.ActionDenied, By: "owner", From: "terminal", At: at}, &at
		switch state {
		case hearken.ActionFailed:
			a.Error = "provider_rejected: The mail server knows no such mailbox."
		case hearken.ActionUnknown:
			a.Error = "outcome_unknown: The mail server took the message and did not answer."
		case hearken.ActionDenied:
			a.Decision.Reason = "not today"
		case hearken.ActionExpired:
			a.Decision, a.Error = nil, "approval_expired: nobody decided in time, which means no."
		case hearken.ActionApproved:
			a.EndedAt, a.Decision = nil, &hearken.Decision{Allow: true, By: "grant", From: "grant", Grant: "grn_1", At: at}
		case hearken.ActionDone:
			a.ID, a.Tool, a.Message, a.Connector, a.Target = hearken.NewActionID(hearken.CalendarCreate), hearken.CalendarCreate, nil, "builtin", "builtin"
			a.Appointment = &hearken.Appointment{Title: "Contract with Bob", Start: time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC), Zone: "Europe/Berlin", Duration: 45 * time.Minute, Location: "Café, Hauptstraße 1"}
			a.Receipt = "evt@hub"
		}
		list = append(list, a)
	}
	return list
}

func pagePast(t *testing.T, start starter) {
	list := past(t)
	h, b := signedIn(t, start, list...)
	b.is(`document.querySelectorAll(".past").length === %d`, len(list))
	text := eval[string](b, `document.querySelector(".rows").innerText`)
	for _, want := range []string{
		"On its way", "Undone", "Expired", "Denied", "Unknown", "Failed", "Done", "The mail server knows no such mailbox.", "It is not known whether this happened.",
		"allowed at a terminal", "allowed by a grant", "Add “Contract with Bob” to the calendar", "Undo", "Stop",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the past does not say %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "provider_rejected") {
		t.Error("a code for programs is shown to a person")
	}
	b.do(chromedp.Click(chromedp.CSS(".past.done summary")))
	b.is(`document.querySelector(".past.done details").innerText.includes("Friday, 20 November 2026, 15:00")`)
	b.is(`document.querySelector(".past.done details").innerText.includes("45 min · until 15:45")`)
	b.screenshotPage("open")
	b.press(".past.done button")
	b.is(`document.querySelectorAll(".past.undone").length === 2 && document.querySelector(".past.undone details[open]")`)
	if got := h.queue.state(list[0].ID); got != hearken.ActionUndone {
		t.Errorf("undone: %s", got)
	}
}

func pageNarrow(t *testing.T, start starter) {
	long := newAction(t, strings.Repeat("Donaudampfschifffahrtsgesellschaftskapitän", 4)+" https://example.org/"+strings.Repeat("a", 200))
	long.Message.Address = strings.Repeat("very.long.name", 4) + "@" + strings.Repeat("sub.", 10) + "example.org"
	long.Warnings = []string{"The text holds a link."}
	far := newAction(t, "Yes")
	far.Evidence[0].Source, far.Grantable = hearken.System, false
	reminder := newReminder(t, "Water the plants", time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC))
	reminder.Reminder.Repeat = "FREQ=WEEKLY;BYDAY=FR"
	collected := inCall(long, callID)
	collected.ID = hearken.NewActionID(hearken.MessageSend)
	h, b := signedIn(t, start, append(past(t), long, far, reminder, collected, inCall(newAction(t, "Yes"), callID))...)
	h.queue.change(func() {
		h.queue.grants = []hearken.Grant{{ID: "grn_1", Principal: "key_laptop", Tool: hearken.MessageSend, Target: long.Target, PerDay: 5, ExpiresAt: time.Now().Add(time.Hour)}}
	})
	b.is(`document.querySelector(".grant")`)
	b.do(js(`document.querySelectorAll("details").forEach(d => d.open = true)`))
	b.narrow(360)
	b.screenshotPage("360")
	b.narrow(320)
	b.do(js(`document.querySelectorAll("details").forEach(d => d.open = false)`))
	b.narrow(360)
	b.screenshotView("360-top")
	b.do(js(`document.querySelector(".card.warned").scrollIntoView()`))
	b.screenshotView("360-warned")
	b.do(js(`document.querySelector(".past").scrollIntoView()`))
	b.screenshotView("360-past")
}
