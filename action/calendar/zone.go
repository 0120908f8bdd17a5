package calendar

import (
	"fmt"
	"time"
	_ "time/tzdata" // repeats need a zone's rules, also where the system has none
)

// zoneYears is for how long after the last start a zone whose changes follow no
// yearly rule is described. Calendars go on with its last offset afterwards.
const zoneYears = 8

// A change is a moment at which a zone's offset from UTC changes.
type change struct {
	at       time.Time
	from, to int // seconds east of UTC
	name     string
}

// wall is the moment on the clocks that were valid until then, which is how
// iCalendar tells it.
func (c change) wall() time.Time { return c.at.UTC().Add(time.Duration(c.from) * time.Second) }

// zone writes the VTIMEZONE of a location, for repeats that start between first
// and last. Most zones are two yearly rules; those that follow the moon, or are
// about to be changed, are a list of single changes.
func (w *writer) zone(loc *time.Location, first, last time.Time) {
	// The year before holds the change that the first start depends on.
	begin := time.Date(first.Year()-1, 1, 1, 0, 0, 0, 0, time.UTC)
	end := last.Year() + zoneYears
	w.line("BEGIN", "VTIMEZONE")
	w.line("TZID", loc.String())
	changes := changesOf(loc, begin, end)
	spring, autumn := yearly(changes, end-begin.Year()+1)
	if spring != nil {
		w.observance(*spring, rule(*spring, changes))
		w.observance(*autumn, rule(*autumn, changes))
	} else {
		name, offset := begin.In(loc).Zone()
		w.observance(change{begin, offset, offset, name}, "")
		for _, c := range changes {
			w.observance(c, "")
		}
	}
	w.line("END", "VTIMEZONE")
}

// observance writes from when on an offset is valid. Whether it is called
// daylight saving goes by the offsets alone: Ireland calls its winter so.
func (w *writer) observance(c change, rrule string) {
	kind := "STANDARD"
	if c.to > c.from {
		kind = "DAYLIGHT"
	}
	w.line("BEGIN", kind)
	w.line("DTSTART", c.wall().Format(localForm))
	w.line("TZOFFSETFROM", offset(c.from))
	w.line("TZOFFSETTO", offset(c.to))
	w.text("TZNAME", c.name)
	if rrule != "" {
		w.line("RRULE", rrule)
	}
	w.line("END", kind)
}

func offset(seconds int) string {
	sign := '+'
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	s := fmt.Sprintf("%c%02d%02d", sign, seconds/3600, seconds/60%60)
	if seconds%60 != 0 {
		s += fmt.Sprintf("%02d", seconds%60)
	}
	return s
}

// changesOf lists the changes of a zone from a time to the end of a year.
// Changes of nothing but the name, which some zones had, are none.
func changesOf(loc *time.Location, begin time.Time, end int) []change {
	var list []change
	for t := begin.In(loc); ; {
		_, next := t.ZoneBounds()
		if next.IsZero() || next.Year() > end {
			return list
		}
		_, from := next.Add(-time.Second).In(loc).Zone()
		name, to := next.In(loc).Zone()
		if from != to {
			list = append(list, change{next, from, to, name})
		}
		t = next.In(loc)
	}
}

// yearly returns the first two changes if they happen again in each of so many
// years by a rule of their own; otherwise nil.
func yearly(changes []change, years int) (a, b *change) {
	if len(changes) != 2*years {
		return nil, nil
	}
	a, b = &changes[0], &changes[1]
	if a.wall().Year() != b.wall().Year() || rule(*a, changes) == "" || rule(*b, changes) == "" {
		return nil, nil
	}
	return a, b
}

// rule is the RRULE by which every change of c's direction happens: on the nth
// or the last such weekday of a month, at the same time. It is empty if there
// is none.
func rule(c change, changes []change) string {
	for _, last := range []bool{true, false} {
		found, years := 0, map[int]bool{}
		for _, o := range changes {
			if o.from == c.from && o.to == c.to && o.name == c.name &&
				on(o.wall(), last) == on(c.wall(), last) && o.wall().Format("150405") == c.wall().Format("150405") {
				found++
				years[o.wall().Year()] = true
			}
		}
		if found == len(changes)/2 && len(years) == found {
			return "FREQ=YEARLY;" + on(c.wall(), last)
		}
	}
	return ""
}

// on is the day as the nth weekday of its month, counted from the month's end
// if last.
func on(t time.Time, last bool) string {
	n := (t.Day()-1)/7 + 1
	if last {
		days := time.Date(t.Year(), t.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
		n = -((days-t.Day())/7 + 1)
	}
	day := [...]string{"SU", "MO", "TU", "WE", "TH", "FR", "SA"}[t.Weekday()]
	return fmt.Sprintf("BYMONTH=%d;BYDAY=%d%s", t.Month(), n, day)
}
