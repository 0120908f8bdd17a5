package calendar

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
)

var created = time.Date(2026, 10, 20, 12, 0, 0, 0, time.UTC)

func instant(t *testing.T, s string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// appointment is an action as the queue stores it, with an offset.
func appointment(t *testing.T, start string) *hearken.Action {
	t.Helper()
	return &hearken.Action{
		ID: hearken.NewActionID(hearken.CalendarCreate), Tool: hearken.CalendarCreate, State: hearken.ActionDone, CreatedAt: created,
		Appointment: &hearken.Appointment{
			Title: "Budget, review; with Žan", Start: instant(t, start), Zone: "Europe/Berlin",
			Duration: 30 * time.Minute, Description: "line 1\nline 2", Location: "Room 7",
		},
	}
}

func reminder(t *testing.T, at, repeat string) *hearken.Action {
	t.Helper()
	return &hearken.Action{
		ID: hearken.NewActionID(hearken.ReminderCreate), Tool: hearken.ReminderCreate, State: hearken.ActionDone, CreatedAt: created,
		Reminder: &hearken.Reminder{At: instant(t, at), Zone: "Europe/Berlin", Note: "take pills", Repeat: repeat},
	}
}

func written(t *testing.T, a *hearken.Action, kind, part string) string {
	t.Helper()
	o, err := newObject(a, kind, part)
	if err != nil {
		t.Fatal(err)
	}
	return o.resource()
}

func TestObject(t *testing.T) {
	const head = "BEGIN:VCALENDAR VERSION:2.0 PRODID:-//Hearken//Hearken//EN "
	const berlin = "BEGIN:VTIMEZONE TZID:Europe/Berlin " +
		"BEGIN:DAYLIGHT DTSTART:20250330T020000 TZOFFSETFROM:+0100 TZOFFSETTO:+0200 TZNAME:CEST RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU END:DAYLIGHT " +
		"BEGIN:STANDARD DTSTART:20251026T030000 TZOFFSETFROM:+0200 TZOFFSETTO:+0100 TZNAME:CET RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU END:STANDARD " +
		"END:VTIMEZONE "
	const stamps = "DTSTAMP:20261020T120000Z CREATED:20261020T120000Z "
	for _, tt := range []struct {
		name       string
		action     *hearken.Action
		kind, part string
		want       string
	}{
		{"Appointment", appointment(t, "2026-11-20T15:00:00+02:00"), event, "",
			head + "BEGIN:VEVENT UID:ID@hearken " + stamps + "DTSTART:20261120T130000Z DTEND:20261120T133000Z " +
				`SUMMARY:Budget\,_review\;_with_Žan DESCRIPTION:line_1\nline_2 LOCATION:Room_7 END:VEVENT END:VCALENDAR`},
		{"Task", reminder(t, "2026-10-22T09:00:00+02:00", ""), task, "",
			head + "BEGIN:VTODO UID:ID@hearken " + stamps + "DUE:20261022T070000Z SUMMARY:take_pills STATUS:NEEDS-ACTION " +
				"BEGIN:VALARM ACTION:DISPLAY DESCRIPTION:take_pills TRIGGER;VALUE=DATE-TIME:20261022T070000Z END:VALARM END:VTODO END:VCALENDAR"},
		{"TaskRepeats", reminder(t, "2026-10-22T09:00:00+02:00", "FREQ=DAILY"), task, "",
			head + berlin + "BEGIN:VTODO UID:ID@hearken " + stamps +
				"DTSTART;TZID=Europe/Berlin:20261022T090000 DUE;TZID=Europe/Berlin:20261022T090100 RRULE:FREQ=DAILY SUMMARY:take_pills STATUS:NEEDS-ACTION " +
				"BEGIN:VALARM ACTION:DISPLAY DESCRIPTION:take_pills TRIGGER:PT0S END:VALARM END:VTODO END:VCALENDAR"},
		{"Event", reminder(t, "2026-10-22T09:00:00+02:00", ""), event, "-event",
			head + "BEGIN:VEVENT UID:ID-event@hearken " + stamps + "DTSTART:20261022T070000Z DTEND:20261022T070500Z SUMMARY:take_pills TRANSP:TRANSPARENT " +
				"BEGIN:VALARM ACTION:DISPLAY DESCRIPTION:take_pills TRIGGER:PT0S END:VALARM END:VEVENT END:VCALENDAR"},
		{"EventRepeats", reminder(t, "2026-10-22T09:00:00+02:00", "FREQ=DAILY"), event, "",
			head + berlin + "BEGIN:VEVENT UID:ID@hearken " + stamps +
				"DTSTART;TZID=Europe/Berlin:20261022T090000 DTEND;TZID=Europe/Berlin:20261022T090500 RRULE:FREQ=DAILY SUMMARY:take_pills TRANSP:TRANSPARENT " +
				"BEGIN:VALARM ACTION:DISPLAY DESCRIPTION:take_pills TRIGGER:PT0S END:VALARM END:VEVENT END:VCALENDAR"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			// In the table a space ends a line, and _ is a space.
			want := strings.NewReplacer(" ", "\r\n", "_", " ").Replace(tt.want) + "\r\n"
			got := strings.ReplaceAll(written(t, tt.action, tt.kind, tt.part), tt.action.ID, "ID")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A recurring reminder starts with its first occurrence, not with the time that
// was requested.
func TestObject_FirstTime(t *testing.T) {
	saturday := reminder(t, "2026-10-24T09:00:00+02:00", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR")
	c := parseComponents(written(t, saturday, task, ""))[0]
	if start, _ := c.get("DTSTART"); start.value != "20261026T090000" || start.params["TZID"] != "Europe/Berlin" {
		t.Errorf("starts %+v", start)
	}
	saturday.Reminder.Zone = "UTC" // which needs no description
	w := written(t, saturday, event, "")
	if start, _ := parseComponents(w)[0].get("DTSTART"); start.value != "20261026T070000Z" || strings.Contains(w, "VTIMEZONE") {
		t.Errorf("in UTC it is\n%s", w)
	}
}

func TestObject_Note(t *testing.T) {
	a := reminder(t, "2026-10-22T09:00:00+02:00", "")
	a.Reminder.Note = "call Bob\nabout the contract"
	c := parseComponents(written(t, a, task, ""))[0]
	if got := c.text("SUMMARY"); got != "call Bob about the contract" {
		t.Errorf("title is %q", got)
	}
	if got := c.text("DESCRIPTION"); got != a.Reminder.Note {
		t.Errorf("description is %q", got)
	}
}

func TestObject_Refuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit func(*hearken.Action)
		want hearken.Code
	}{
		{"Message", func(a *hearken.Action) { a.Reminder, a.Message = nil, &hearken.Message{} }, hearken.Invalid},
		{"NoZone", func(a *hearken.Action) { a.Reminder.Zone = "" }, hearken.InvalidTime},
		{"Local", func(a *hearken.Action) { a.Reminder.Zone = "Local" }, hearken.InvalidTime},
		{"Nowhere", func(a *hearken.Action) { a.Reminder.Zone = "Europe/Nowhere" }, hearken.InvalidTime},
		{"Never", func(a *hearken.Action) { a.Reminder.Repeat = "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30" }, hearken.InvalidRepeat},
		{"TwoLines", func(a *hearken.Action) { a.Reminder.Repeat = "FREQ=DAILY\r\nATTENDEE:mailto:eve@example.org" }, hearken.InvalidRepeat},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := reminder(t, "2026-10-22T09:00:00+02:00", "FREQ=DAILY")
			tt.edit(a)
			_, err := newObject(a, task, "")
			if got := hearken.CodeOf(err); got != tt.want {
				t.Errorf("code %q, want %q: %v", got, tt.want, err)
			}
			if o := (Builtin{}).Do(t.Context(), a); o.Result != hearken.ResultPermanent || o.Message == "" {
				t.Errorf("built in: %+v", o)
			}
		})
	}
}

// What a server writes in its own way is unchanged; what a person edits is not.
func TestObject_Unchanged(t *testing.T) {
	a := appointment(t, "2026-11-20T15:00:00+02:00")
	o, err := newObject(a, event, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name     string
		old, new string
		want     bool
	}{
		{"AsWritten", "", "", true},
		{"LineEnds", "\r\n", "\n", true},
		{"Duration", "DTEND:20261120T133000Z", "DURATION:PT1800S", true},
		{"Zone", "DTSTART:20261120T130000Z", "DTSTART;TZID=Europe/Berlin:20261120T140000", true},
		{"Additions", "END:VEVENT", "SEQUENCE:1\r\nSTATUS:CONFIRMED\r\nX-MOZ-LASTACK:20261120T130000Z\r\nLAST-MODIFIED:20261021T000000Z\r\nEND:VEVENT", true},
		{"Alarm", "END:VEVENT", "BEGIN:VALARM\r\nACTION:DISPLAY\r\nDESCRIPTION:x\r\nTRIGGER:-PT10M\r\nEND:VALARM\r\nEND:VEVENT", true},
		{"Later", "DTSTART:20261120T130000Z", "DTSTART:20261120T131500Z", false},
		{"Longer", "DTEND:20261120T133000Z", "DURATION:PT1H", false},
		{"OtherTitle", "SUMMARY:Budget", "SUMMARY:Cake", false},
		{"NoPlace", "LOCATION:Room 7\r\n", "", false},
		{"Guest", "END:VEVENT", "ATTENDEE:mailto:bob@example.org\r\nEND:VEVENT", false},
		{"Repeats", "END:VEVENT", "RRULE:FREQ=DAILY\r\nEND:VEVENT", false},
		{"Cancelled", "END:VEVENT", "STATUS:CANCELLED\r\nEND:VEVENT", false},
		{"OtherUID", "UID:evt_", "UID:evx_", false},
		{"Company", "END:VCALENDAR", "BEGIN:VEVENT\r\nUID:x\r\nEND:VEVENT\r\nEND:VCALENDAR", false},
		{"Garbage", "BEGIN:VCALENDAR", "<html>", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stored := o.resource()
			if tt.old != "" {
				stored = strings.ReplaceAll(stored, tt.old, tt.new)
				if stored == o.resource() {
					t.Fatal("nothing was replaced")
				}
			}
			if got := o.isUnchanged(stored); got != tt.want {
				t.Errorf("unchanged: %t\n%s", got, stored)
			}
		})
	}
}
