package calendar

import (
	"fmt"
	"time"
	_ "time/tzdata" // recurring times need zones, even where the system has none
)

// zoneYears is how many years after the last start a zone without yearly rules
// is described. Calendars then continue with its last offset.
const zoneYears = 8

// A transition is when a zone's offset from UTC changes.
type transition struct {
	at       time.Time
	from, to int // seconds east of UTC
	name     string
}

// localBefore is the wall clock at the transition, before it changes. iCalendar
// writes it so.
func (c transition) localBefore() time.Time {
	return c.at.UTC().Add(time.Duration(c.from) * time.Second)
}

// timezone writes the VTIMEZONE of a location, for recurrences that start
// between first and last. Most zones are two yearly rules. Those that follow
// the moon, or are about to change their rules, are a list of transitions.
func (w *icalWriter) timezone(loc *time.Location, first, last time.Time) {
	// The first start depends on a transition of the year before.
	begin := time.Date(first.Year()-1, 1, 1, 0, 0, 0, 0, time.UTC)
	end := last.Year() + zoneYears
	w.line("BEGIN", "VTIMEZONE")
	w.line("TZID", loc.String())
	all := transitions(loc, begin, end)
	one, other := yearlyPair(all, end-begin.Year()+1)
	if one != nil {
		w.observance(*one, yearlyRule(*one, all))
		w.observance(*other, yearlyRule(*other, all))
	} else {
		name, offset := begin.In(loc).Zone()
		w.observance(transition{begin, offset, offset, name}, "")
		for _, c := range all {
			w.observance(c, "")
		}
	}
	w.line("END", "VTIMEZONE")
}

// observance writes from when on an offset is valid. Only the offsets decide
// whether it is called daylight saving: Ireland's own data calls its winter so.
func (w *icalWriter) observance(c transition, rrule string) {
	kind := "STANDARD"
	if c.to > c.from {
		kind = "DAYLIGHT"
	}
	w.line("BEGIN", kind)
	w.line("DTSTART", c.localBefore().Format(localLayout))
	w.line("TZOFFSETFROM", formatOffset(c.from))
	w.line("TZOFFSETTO", formatOffset(c.to))
	w.text("TZNAME", c.name)
	if rrule != "" {
		w.line("RRULE", rrule)
	}
	w.line("END", kind)
}

func formatOffset(seconds int) string {
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

// transitions lists those of a zone from a time to the end of a year, without
// those that change only the name.
func transitions(loc *time.Location, begin time.Time, end int) []transition {
	var list []transition
	for t := begin.In(loc); ; {
		_, next := t.ZoneBounds()
		if next.IsZero() || next.Year() > end {
			return list
		}
		_, from := next.Add(-time.Second).In(loc).Zone()
		name, to := next.In(loc).Zone()
		if from != to {
			list = append(list, transition{next, from, to, name})
		}
		t = next.In(loc)
	}
}

// yearlyPair returns the first two transitions if each follows a rule and both
// happen every year; otherwise nil.
func yearlyPair(all []transition, years int) (a, b *transition) {
	if len(all) != 2*years {
		return nil, nil
	}
	a, b = &all[0], &all[1]
	if a.localBefore().Year() != b.localBefore().Year() || yearlyRule(*a, all) == "" || yearlyRule(*b, all) == "" {
		return nil, nil
	}
	return a, b
}

// yearlyRule is the RRULE of all transitions like c: on the nth or the nth last
// weekday of a month, at the same time. It is empty if there is none.
func yearlyRule(c transition, all []transition) string {
	at := c.localBefore()
	for _, fromEnd := range []bool{true, false} {
		found, years := 0, map[int]bool{}
		for _, other := range all {
			t := other.localBefore()
			if other.from == c.from && other.to == c.to && other.name == c.name &&
				nthWeekday(t, fromEnd) == nthWeekday(at, fromEnd) && t.Format("150405") == at.Format("150405") {
				found++
				years[t.Year()] = true
			}
		}
		if found == len(all)/2 && len(years) == found {
			return "FREQ=YEARLY;" + nthWeekday(at, fromEnd)
		}
	}
	return ""
}

// nthWeekday is the day as the nth weekday of its month, counted from the
// month's end if fromEnd.
func nthWeekday(t time.Time, fromEnd bool) string {
	n := (t.Day()-1)/7 + 1
	if fromEnd {
		days := time.Date(t.Year(), t.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
		n = -((days-t.Day())/7 + 1)
	}
	day := [...]string{"SU", "MO", "TU", "WE", "TH", "FR", "SA"}[t.Weekday()]
	return fmt.Sprintf("BYMONTH=%d;BYDAY=%d%s", t.Month(), n, day)
}
