package web

import (
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
)

// Why a card has a warning: who said the words behind the action.
const (
	warnFar     = "far"     // the other side
	warnEcho    = "echo"    // the other side, heard by the microphone
	warnOverlap = "overlap" // heard by the microphone while the other side may have been speaking
	warnNone    = "none"    // nobody
)

// A card is an action with everything that the owner needs to decide.
type card struct {
	*hearken.Action
	KeyName string  `json:"keyName,omitempty"`
	Failure string  `json:"failure,omitempty"` // why it did not succeed, for people
	Warning string  `json:"warning,omitempty"`
	When    *moment `json:"when,omitempty"`
	End     *moment `json:"end,omitempty"` // of an appointment
	// Schedule describes how a reminder repeats, with its next times.
	Schedule string    `json:"schedule,omitempty"`
	Before   *previous `json:"before,omitempty"`
	// Collected is set if the action was requested during a call and need not be
	// decided before the call has ended.
	Collected bool `json:"collected,omitempty"`
	// Undo is set if the owner can undo the action, or stop it.
	Undo bool `json:"undo,omitempty"`
	// UndoUntil is until when that needs no PIN.
	UndoUntil *time.Time `json:"undoUntil,omitempty"`
}

func (h *Handler) card(a *hearken.Action, names keyNames) card {
	c := card{Action: a, KeyName: names[a.Principal], Failure: a.FailureMessage(), Warning: warning(a.Evidence), Undo: canUndo(a)}
	c.Collected = a.Call != "" && a.State == hearken.ActionPending && h.cfg.Queue.WaitsForCallEnd(a)
	if until := undoUntil(a); c.Undo && h.cfg.Now().Before(until) {
		c.UndoUntil = &until
	}
	switch {
	case a.Appointment != nil:
		c.When = momentOf(a.Appointment.Start, a.Appointment.Zone)
		c.End = momentOf(a.Appointment.Start.Add(a.Appointment.Duration), a.Appointment.Zone)
	case a.Reminder != nil:
		c.When = momentOf(a.Reminder.At, a.Reminder.Zone)
		if a.Reminder.Repeat != "" {
			c.Schedule = act.TimeText(a)
		}
	}
	return c
}

// warning returns the most serious warning about the words behind an action.
func warning(list []hearken.Evidence) string {
	found := map[string]bool{warnNone: len(list) == 0}
	for _, e := range list {
		switch {
		case e.Echo:
			found[warnEcho] = true
		case e.Source == hearken.System:
			found[warnFar] = true
		case e.Source == "":
			found[warnNone] = true
		case e.Overlap:
			found[warnOverlap] = true
		}
	}
	for _, w := range []string{warnFar, warnEcho, warnOverlap, warnNone} {
		if found[w] {
			return w
		}
	}
	return ""
}

// canUndo reports whether the page offers to undo an action. A message that was
// sent cannot be undone.
func canUndo(a *hearken.Action) bool {
	return a.State == hearken.ActionApproved || (a.State == hearken.ActionDone && a.Tool != hearken.MessageSend)
}

// A moment is a time as people read it, in its own time zone.
type moment struct {
	At     time.Time `json:"at"`
	Day    string    `json:"day"`
	Clock  string    `json:"clock"`
	Zone   string    `json:"zone"`   // IANA name
	Offset string    `json:"offset"` // "CET, UTC+01:00"; distinguishes the repeated hour when summer time ends
}

func momentOf(t time.Time, zone string) *moment {
	if loc, err := time.LoadLocation(zone); err == nil {
		t = t.In(loc)
	} else {
		t, zone = t.UTC(), "UTC"
	}
	clock := "15:04"
	if t.Second() != 0 {
		clock = "15:04:05"
	}
	offset := "UTC" + t.Format("-07:00")
	if name, _ := t.Zone(); name != "" && name[0] != '+' && name[0] != '-' {
		offset = name + ", " + offset
	}
	return &moment{At: t, Day: t.Format("Monday, 2 January 2006"), Clock: t.Format(clock), Zone: zone, Offset: offset}
}

func (m *moment) String() string { return m.Day + ", " + m.Clock + " " + m.Zone }
