package act

import (
	"fmt"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/schedule"
)

// Failure is what an action that has not, or not yet, succeeded answers who
// asked for it: a stable code and a sentence. It is nil for one that is done.
func Failure(a *hearken.Action) *hearken.Error {
	switch a.State {
	case hearken.ActionDone:
		return nil
	case hearken.ActionPending:
		return hearken.Errorf(hearken.ApprovalPending, "%s waits for its owner until %s.", a.ID, a.ExpiresAt.UTC().Format(time.RFC3339)).
			WithTry("ask the user to open the approvals page or run: hearken approve %s; then the same call again, or action_status", a.ID)
	case hearken.ActionApproved, hearken.ActionExecuting:
		return hearken.Errorf(hearken.ApprovalPending, "%s is approved and being carried out.", a.ID).WithTry("action_status")
	case hearken.ActionUndone:
		return hearken.Errorf(hearken.ActionWasCancelled, "%s was done and taken back.", a.ID)
	}
	code, sentence, _ := strings.Cut(a.Error, ": ")
	return hearken.Errorf(hearken.Code(code), "%s", sentence)
}

// codeOf is the code in front of an action's error.
func codeOf(text string) hearken.Code {
	code, _, _ := strings.Cut(text, ":")
	return hearken.Code(code)
}

// Summary says in one line what an action does.
func Summary(a *hearken.Action) string {
	switch {
	case a.Appointment != nil:
		return fmt.Sprintf("Create %q in the calendar (%s)", a.Appointment.Title, a.Connector)
	case a.Message != nil:
		return fmt.Sprintf("Send a message to %s (%s)", who(a.Message), a.Message.Platform)
	case a.Reminder != nil:
		return fmt.Sprintf("Set the reminder %q", a.Reminder.Note)
	}
	return a.Tool
}

func who(m *hearken.Message) string {
	if m.Name == "" {
		return m.Address
	}
	return m.Name + " <" + m.Address + ">"
}

// TimeText says at what time an action takes place, with its zone and, if it
// repeats, the next times; empty for what has no time.
func TimeText(a *hearken.Action) string {
	switch {
	case a.Appointment != nil:
		return fmt.Sprintf("%s, %d minutes", schedule.Describe(a.Appointment.Start, zone(a.Appointment.Zone), "", 0), int(a.Appointment.Duration.Minutes()))
	case a.Reminder != nil:
		return schedule.Describe(a.Reminder.At, zone(a.Reminder.Zone), a.Reminder.Repeat, 3)
	}
	return ""
}

// zone finds a zone that was there when the action was made.
func zone(name string) *time.Location {
	loc, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	return loc
}

// Describe tells a person at a terminal all there is to know before deciding.
func Describe(a *hearken.Action) string {
	var b strings.Builder
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "  %-9s %s\n", name, strings.ReplaceAll(visible(text), "\n", "\n            "))
		}
	}
	fmt.Fprintf(&b, "%s  %s\n", a.ID, visible(Summary(a)))
	line("when", TimeText(a))
	switch {
	case a.Appointment != nil:
		line("where", a.Appointment.Location)
		line("text", a.Appointment.Description)
	case a.Message != nil:
		line("to", who(a.Message))
		line("text", a.Message.Text)
	}
	asked := a.Principal
	if a.KeyName != "" && a.KeyName != a.Principal {
		asked = a.KeyName + " (" + a.Principal + ")"
	}
	if a.Client != "" {
		asked += " by " + a.Client
	}
	line("asked by", asked)
	for _, e := range a.Evidence {
		line("heard", heard(e))
	}
	for _, c := range a.Warnings {
		line("CAUTION", c)
	}
	return b.String()
}

// heard is a piece of evidence in words.
func heard(e hearken.Evidence) string {
	if e.Source == "" {
		return e.Arg + ": nobody was heard saying it"
	}
	side := "this side"
	if e.Source == hearken.System || e.Echo {
		side = "the other side"
	}
	if e.Speaker != nil {
		side += fmt.Sprintf(", speaker %d", *e.Speaker)
	}
	return fmt.Sprintf("%s: %q, %s, %s", e.Arg, e.Quote, side, e.At)
}

// visible shows characters that would turn or hide text around them as what
// they are.
func visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		if hides(r) {
			fmt.Fprintf(&b, "<U+%04X>", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// hides reports whether a character changes how others look, or is invisible
// itself.
func hides(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r < 0xa0, r == 0xad, r == 0x61c, r == 0x180e, r == 0xfeff:
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}
