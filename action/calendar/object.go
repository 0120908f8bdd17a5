package calendar

import (
	"cmp"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/schedule"
)

// The kinds of calendar objects.
const (
	event = "VEVENT"
	task  = "VTODO"
)

// UID is the name by which calendars everywhere know what an action made.
func UID(id string) string { return id + "@hearken" }

// An object is an action as a calendar's component.
type object struct {
	kind string // event or task
	uid  string
	a    *hearken.Action
	at   time.Time      // when it begins for the first time
	loc  *time.Location // of a repeating reminder; otherwise nil
}

// newObject makes an object of an action. The part tells a second object of
// the same action from the first, for which it is empty.
func newObject(a *hearken.Action, kind, part string) (object, error) {
	o := object{kind: kind, uid: UID(a.ID + part), a: a}
	switch {
	case a.Appointment != nil && kind == event:
		o.at = a.Appointment.Start
		return o, nil
	case a.Reminder != nil:
		o.at = a.Reminder.At
		return o, o.repeat()
	}
	return o, hearken.Errorf(hearken.Invalid, "A calendar cannot hold what %s asks for.", a.Tool)
}

// repeat finds the zone and the first time of a reminder that repeats.
func (o *object) repeat() error {
	r := o.a.Reminder
	if r.Repeat == "" {
		return nil
	}
	// Anything but a rule would end the line and begin another.
	if strings.Trim(r.Repeat, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789=;,+-") != "" {
		return hearken.Errorf(hearken.InvalidRepeat, "The reminder's rule is not one that a calendar understands.")
	}
	loc, err := time.LoadLocation(r.Zone)
	if err != nil || r.Zone == "" || loc == time.Local {
		return hearken.Errorf(hearken.InvalidTime, "The reminder repeats in %q, which is not the name of a time zone.", r.Zone)
	}
	o.loc = loc
	// Calendars always count the start as a time, so it has to be one of the
	// rule's: "every weekday" that was said on a Saturday starts on Monday.
	first, ok := schedule.Next(r.Repeat, r.At, loc, r.At.Add(-time.Second))
	if !ok {
		return hearken.Errorf(hearken.InvalidRepeat, "The reminder's rule has no time at all.")
	}
	o.at = first
	return nil
}

// zoned reports whether the object's times are told on the wall clock of its
// zone, so that the zone has to be described. UTC needs no description.
func (o object) zoned() bool {
	return o.loc != nil && o.loc.String() != "UTC" && o.loc.String() != "Etc/UTC"
}

// resource is the object as a CalDAV server keeps it: alone, with its zone.
func (o object) resource() string {
	w := &writer{}
	w.line("BEGIN", "VCALENDAR")
	w.head()
	if o.zoned() {
		w.zone(o.loc, o.at, o.at)
	}
	w.object(o)
	w.line("END", "VCALENDAR")
	return w.b.String()
}

func (w *writer) head() {
	w.line("VERSION", "2.0")
	w.line("PRODID", "-//Hearken//Hearken//EN")
}

// object writes the component. It is the same whenever it is written: its
// stamp is when the action was asked for.
func (w *writer) object(o object) {
	w.line("BEGIN", o.kind)
	w.line("UID", o.uid)
	w.utc("DTSTAMP", o.a.CreatedAt)
	w.utc("CREATED", o.a.CreatedAt)
	switch {
	case o.a.Appointment != nil:
		w.appointment(o.a.Appointment)
	case o.kind == task:
		w.task(o)
	default:
		w.alarmEvent(o)
	}
	w.line("END", o.kind)
}

func (w *writer) appointment(p *hearken.Appointment) {
	w.utc("DTSTART", p.Start)
	w.utc("DTEND", p.Start.Add(p.Duration))
	w.title("SUMMARY", p.Title)
	w.text("DESCRIPTION", p.Description)
	w.title("LOCATION", p.Location)
}

// task writes a reminder as something to do. Apps ring only if there is an
// alarm; some servers refuse one that relates to the due time, so it names an
// instant, or of a repeating task its start. A start has to lie before the due
// time.
func (w *writer) task(o object) {
	if o.loc == nil {
		w.utc("DUE", o.at)
	} else {
		w.moment("DTSTART", o.at, o)
		w.moment("DUE", o.at.Add(time.Minute), o)
		w.line("RRULE", o.a.Reminder.Repeat)
	}
	w.note(o.a.Reminder.Note)
	w.line("STATUS", "NEEDS-ACTION")
	w.alarm(o)
}

// alarmEvent writes a reminder as an event that rings and takes nobody's time,
// for calendars that know no tasks.
func (w *writer) alarmEvent(o object) {
	w.moment("DTSTART", o.at, o)
	w.moment("DTEND", o.at.Add(5*time.Minute), o)
	if o.loc != nil {
		w.line("RRULE", o.a.Reminder.Repeat)
	}
	w.note(o.a.Reminder.Note)
	w.line("TRANSP", "TRANSPARENT")
	w.alarm(o)
}

// note writes a reminder's text: its beginning as the title, and the whole of
// it below where that says more.
func (w *writer) note(s string) {
	title := short(s, 200)
	w.text("SUMMARY", title)
	if title != plain(s) {
		w.text("DESCRIPTION", s)
	}
}

func (w *writer) alarm(o object) {
	w.line("BEGIN", "VALARM")
	w.line("ACTION", "DISPLAY")
	w.text("DESCRIPTION", cmp.Or(short(o.a.Reminder.Note, 200), "Reminder")) // must be there
	if o.kind == task && o.loc == nil {
		w.utc("TRIGGER;VALUE=DATE-TIME", o.at)
	} else {
		w.line("TRIGGER", "PT0S")
	}
	w.line("END", "VALARM")
}

// moment writes a time in UTC, or on the wall clock of a zone if it repeats.
func (w *writer) moment(name string, t time.Time, o object) {
	if o.zoned() {
		w.line(name+";TZID="+o.loc.String(), t.In(o.loc).Format(localForm))
	} else {
		w.utc(name, t)
	}
}

// fileName is the last part of an object's address on a server.
func (o object) fileName() string { return strings.TrimSuffix(o.uid, UID("")) + ".ics" }
