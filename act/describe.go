package act

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/safetext"
	"github.com/hearken-dev/hearken/schedule"
)

// Failure returns what the caller is told about an action that has not, or not
// yet, succeeded. It is nil for one that is done.
func Failure(a *hearken.Action) *hearken.Error {
	switch a.State {
	case hearken.ActionDone:
		return nil
	case hearken.ActionPending:
		by := a.ExpiresAt.UTC().Format(time.RFC3339)
		e := hearken.Errorf(hearken.ApprovalPending, "%s waits for the owner's approval until %s. Trying another way does not help.", a.ID, by)
		if a.Call != "" {
			e = hearken.Errorf(hearken.ApprovalPending, "%s was requested during a call and waits for the owner, who decides by %s, usually after the call. "+
				"Repeating it or trying another way does not help.", a.ID, by)
		}
		return e.WithTry("tell the user, who decides on the approvals page or with: hearken approve %s; check action_status later", a.ID)
	case hearken.ActionApproved, hearken.ActionExecuting:
		return hearken.Errorf(hearken.ApprovalPending, "%s is approved and being carried out.", a.ID).WithTry("action_status")
	case hearken.ActionUndone:
		return hearken.Errorf(hearken.ActionWasCancelled, "%s was done and then undone.", a.ID)
	}
	e := &hearken.Error{Code: a.FailureCode(), Message: a.FailureMessage()}
	if a.State == hearken.ActionDenied || a.State == hearken.ActionExpired {
		e = e.WithTry("tell the user; do not try another way")
	}
	return e
}

// Summary says in one line what an action does.
func Summary(a *hearken.Action) string {
	switch {
	case a.Appointment != nil:
		return fmt.Sprintf("Create %q in the calendar (%s)", a.Appointment.Title, a.Connector)
	case a.Message != nil:
		return fmt.Sprintf("Send a message to %s (%s)", recipientText(a.Message), a.Message.Platform)
	case a.Reminder != nil:
		return fmt.Sprintf("Set the reminder %q", a.Reminder.Note)
	}
	return a.Tool
}

func recipientText(m *hearken.Message) string {
	if m.Name == "" {
		return m.Address
	}
	return m.Name + " <" + m.Address + ">"
}

// StateText returns an action's state, and why it did not succeed.
func StateText(a *hearken.Action) string { return withFailure(string(a.State), a) }

// Effect says in words what has become of an action.
func Effect(a *hearken.Action) string {
	text := string(a.State)
	if a.State == hearken.ActionDone {
		switch {
		case a.Appointment != nil:
			text = "created" + receiptText("calendar UID", a.Receipt)
		case a.Message != nil:
			text = "sent" + receiptText("message ID", a.Receipt)
		case a.Reminder != nil:
			text = "set"
		}
	}
	return withFailure(text, a)
}

func withFailure(text string, a *hearken.Action) string {
	if message := a.FailureMessage(); message != "" {
		return text + " (" + message + ")"
	}
	return text
}

func receiptText(name, id string) string {
	if id == "" {
		return ""
	}
	return " (" + name + " " + id + ")"
}

// TimeText says when an action takes place, with its zone and, if it repeats,
// the next times. It is empty for an action without a time.
func TimeText(a *hearken.Action) string {
	switch {
	case a.Appointment != nil:
		minutes := math.Round(a.Appointment.Duration.Minutes()*100) / 100
		return fmt.Sprintf("%s, %v minutes", schedule.Describe(a.Appointment.Start, loadZone(a.Appointment.Zone), "", 0), minutes)
	case a.Reminder != nil:
		return schedule.Describe(a.Reminder.At, loadZone(a.Reminder.Zone), a.Reminder.Repeat, 3)
	}
	return ""
}

func loadZone(name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC // the zone existed when the action was made
	}
	return zone
}

// Describe returns everything that a person at a terminal needs to decide about
// an action.
func Describe(a *hearken.Action) string {
	var b strings.Builder
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "  %-9s %s\n", name, strings.ReplaceAll(safetext.Marked(text), "\n", "\n            "))
		}
	}
	fmt.Fprintf(&b, "%s  %s\n", a.ID, safetext.Marked(Summary(a)))
	line("when", TimeText(a))
	switch {
	case a.Appointment != nil:
		line("where", a.Appointment.Location)
		line("text", a.Appointment.Description)
	case a.Message != nil:
		line("to", recipientText(a.Message))
		line("text", a.Message.Text)
	}
	line("asked by", requester(a))
	for _, e := range a.Evidence {
		if e.Source != "" { // otherwise a warning says so
			line("evidence", evidenceText(e))
		}
	}
	for _, w := range a.Warnings {
		line("WARNING", w)
	}
	return b.String()
}

// requester says who asked for an action.
func requester(a *hearken.Action) string {
	if a.Principal == Local {
		return cmp.Or(a.Client, "a program") + ", on this computer"
	}
	key := "key " + a.Principal
	if a.KeyName != "" && a.KeyName != a.Principal {
		key = fmt.Sprintf("key %q (%s)", a.KeyName, a.Principal)
	}
	if a.Client == "" {
		return key
	}
	return a.Client + ", with " + key
}

// evidenceText says where the words for an argument were heard. It does not say
// "you said": nobody can know who speaks into a microphone.
func evidenceText(e hearken.Evidence) string {
	text := argName(e.Arg)
	if !e.Deleted && isPartial(e) {
		text += fmt.Sprintf(" (%.0f %% of the words)", 100*e.Coverage)
	}
	switch {
	case e.Echo:
		text += ", heard on your microphone, may be an echo of the other side"
	case e.Source == hearken.System:
		text += ", said by the other side"
	case e.Overlap:
		text += ", heard on your microphone while the other side may have been speaking"
	default:
		text += ", heard on your microphone"
	}
	if e.Deleted {
		return text + ". The words were deleted."
	}
	if e.Speaker != nil {
		text += fmt.Sprintf(" (speaker %d)", *e.Speaker+1)
	}
	return fmt.Sprintf("%s: %q, %s", text, e.Quote, e.At)
}
