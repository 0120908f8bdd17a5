package calendar

import (
	"cmp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/safetext"
	"github.com/hearken-dev/hearken/schedule"
)

// The kinds of calendar objects.
const (
	event = "VEVENT"
	task  = "VTODO"
)

// UID is the id that an action's entry has in every calendar.
func UID(id string) string { return id + "@hearken" }

// An object is an action as a calendar's component.
type object struct {
	kind   string // event or task
	uid    string
	action *hearken.Action
	start  time.Time      // of the first occurrence
	zone   *time.Location // of a recurring reminder; otherwise nil
}

// newObject makes an object of an action. The suffix distinguishes a second
// object of the same action; for the first it is empty.
func newObject(a *hearken.Action, kind, suffix string) (object, error) {
	o := object{kind: kind, uid: UID(a.ID + suffix), action: a}
	switch {
	case a.Appointment != nil && kind == event:
		o.start = a.Appointment.Start
		return o, nil
	case a.Reminder != nil:
		o.start = a.Reminder.At
		return o, o.setRecurrence()
	}
	return o, hearken.Errorf(hearken.Invalid, "%s makes nothing that a calendar can hold.", a.Tool)
}

// setRecurrence finds the zone and the first occurrence of a recurring
// reminder.
func (o *object) setRecurrence() error {
	r := o.action.Reminder
	if r.Repeat == "" {
		return nil
	}
	// Other characters could end the line and begin another property.
	if strings.Trim(r.Repeat, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789=;,+-") != "" {
		return hearken.Errorf(hearken.InvalidRepeat, "The reminder's rule is not one that calendars understand.")
	}
	loc, err := time.LoadLocation(r.Zone)
	if err != nil || r.Zone == "" || loc == time.Local {
		return hearken.Errorf(hearken.InvalidTime, "The reminder repeats in %q, which is not the name of a time zone.", r.Zone)
	}
	o.zone = loc
	// Calendars always show the start, so the rule must include it: "every
	// weekday", said on a Saturday, starts on Monday.
	first, ok := schedule.Next(r.Repeat, r.At, loc, r.At.Add(-time.Second))
	if !ok {
		return hearken.Errorf(hearken.InvalidRepeat, "The reminder's rule never occurs.")
	}
	o.start = first
	return nil
}

// needsTimezone reports whether the object's times are on the wall clock of its
// zone, so that it needs a VTIMEZONE. UTC needs none.
func (o object) needsTimezone() bool {
	return o.zone != nil && o.zone.String() != "UTC" && o.zone.String() != "Etc/UTC"
}

// resource is the object as a CalDAV server stores it: alone, with its zone.
func (o object) resource() string {
	w := &icalWriter{}
	w.line("BEGIN", "VCALENDAR")
	w.header()
	if o.needsTimezone() {
		w.timezone(o.zone, o.start, o.start)
	}
	w.object(o)
	w.line("END", "VCALENDAR")
	return w.b.String()
}

func (w *icalWriter) header() {
	w.line("VERSION", "2.0")
	w.line("PRODID", "-//Hearken//Hearken//EN")
}

// object writes the component. It is the same each time: its stamp is when the
// action was requested.
func (w *icalWriter) object(o object) {
	w.line("BEGIN", o.kind)
	w.line("UID", o.uid)
	w.utc("DTSTAMP", o.action.CreatedAt)
	w.utc("CREATED", o.action.CreatedAt)
	switch {
	case o.action.Appointment != nil:
		w.appointment(o.action.Appointment)
	case o.kind == task:
		w.task(o)
	default:
		w.alarmEvent(o)
	}
	w.line("END", o.kind)
}

func (w *icalWriter) appointment(p *hearken.Appointment) {
	w.utc("DTSTART", p.Start)
	w.utc("DTEND", p.Start.Add(p.Duration))
	w.lineText("SUMMARY", p.Title)
	w.text("DESCRIPTION", p.Description)
	w.lineText("LOCATION", p.Location)
}

// task writes a reminder as a task. Apps notify only if it has an alarm. Some
// servers refuse an alarm relative to the due time, so it names a time, or the
// start of a recurring task. A start must be before the due time.
func (w *icalWriter) task(o object) {
	if o.zone == nil {
		w.utc("DUE", o.start)
	} else {
		w.dateTime("DTSTART", o.start, o)
		w.dateTime("DUE", o.start.Add(time.Minute), o)
		w.line("RRULE", o.action.Reminder.Repeat)
	}
	w.reminderText(o.action.Reminder.Note)
	w.line("STATUS", "NEEDS-ACTION")
	w.alarm(o)
}

// alarmEvent writes a reminder as an event with an alarm that does not show as
// busy, for calendars without tasks.
func (w *icalWriter) alarmEvent(o object) {
	w.dateTime("DTSTART", o.start, o)
	w.dateTime("DTEND", o.start.Add(5*time.Minute), o)
	if o.zone != nil {
		w.line("RRULE", o.action.Reminder.Repeat)
	}
	w.reminderText(o.action.Reminder.Note)
	w.line("TRANSP", "TRANSPARENT")
	w.alarm(o)
}

// reminderText writes a reminder's text: its beginning as the title, and all of
// it as the description if the title does not hold it.
func (w *icalWriter) reminderText(s string) {
	title := shortLine(s, 200)
	w.text("SUMMARY", title)
	if title != cleanText(s) {
		w.text("DESCRIPTION", s)
	}
}

func (w *icalWriter) alarm(o object) {
	w.line("BEGIN", "VALARM")
	w.line("ACTION", "DISPLAY")
	w.text("DESCRIPTION", cmp.Or(shortLine(o.action.Reminder.Note, 200), "Reminder")) // is required
	if o.kind == task && o.zone == nil {
		w.utc("TRIGGER;VALUE=DATE-TIME", o.start)
	} else {
		w.line("TRIGGER", "PT0S")
	}
	w.line("END", "VALARM")
}

// dateTime writes a time in UTC, or on the wall clock of a recurring object.
func (w *icalWriter) dateTime(name string, t time.Time, o object) {
	if o.needsTimezone() {
		w.line(name+";TZID="+o.zone.String(), t.In(o.zone).Format(localLayout))
	} else {
		w.utc(name, t)
	}
}

// fileName is the last part of the object's URL on a server.
func (o object) fileName() string { return strings.TrimSuffix(o.uid, UID("")) + ".ics" }

// The layouts in which iCalendar writes a time.
const (
	utcLayout   = "20060102T150405Z"
	localLayout = "20060102T150405"
)

// An icalWriter writes iCalendar content lines (RFC 5545, section 3.1).
type icalWriter struct{ b strings.Builder }

// line writes one property. The name includes its parameters, and the value is
// already escaped: see text.
func (w *icalWriter) line(name, value string) {
	rest := name + ":" + value
	// A line has at most 75 octets, including the space that continues it. No
	// character is cut.
	for width := 75; len(rest) > width; width = 74 {
		cut := width
		for !utf8.RuneStart(rest[cut]) {
			cut--
		}
		w.b.WriteString(rest[:cut])
		w.b.WriteString("\r\n ")
		rest = rest[cut:]
	}
	w.b.WriteString(rest)
	w.b.WriteString("\r\n")
}

// text writes a text property, unless it is empty.
func (w *icalWriter) text(name, value string) {
	if value = cleanText(value); value != "" {
		w.line(name, escaper.Replace(value))
	}
}

// lineText writes a text property on one line, unless it is empty.
func (w *icalWriter) lineText(name, value string) { w.text(name, safetext.Line(value)) }

// utc writes a time property in UTC.
func (w *icalWriter) utc(name string, t time.Time) { w.line(name, t.UTC().Format(utcLayout)) }

var escaper = strings.NewReplacer(`\`, `\\`, ";", `\;`, ",", `\,`, "\n", `\n`)

// cleanText removes what iCalendar forbids, such as control characters, and
// what makes a text read differently from what it is.
func cleanText(s string) string { return strings.TrimSpace(safetext.Clean(s)) }

// shortLine is s on one line of at most n characters.
func shortLine(s string, n int) string {
	r := []rune(safetext.Line(s))
	if len(r) <= n {
		return string(r)
	}
	return strings.TrimSpace(string(r[:n-1])) + "…"
}
