package schedule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Describe says when something is, for a person who decides about it: the time
// in zone and in UTC, or a rule in words and its first n times.
func Describe(at time.Time, zone *time.Location, rule string, n int) string {
	if zone == nil {
		zone = at.Location()
	}
	at = at.In(zone)
	if rule == "" {
		return formatTime(at) + " " + zone.String() + inUTC(at)
	}
	r, err := parseRule(rule, zone)
	if err != nil {
		return fmt.Sprintf("from %s %s by the rule %s", formatTime(at), zone, rule)
	}
	s := newSeries(r, at, zone)
	text := r.inWords(at) + " at " + s.clockTimes() + " " + zone.String() + r.endText(zone)
	var next []string
	for t, ok := s.next(at.Add(-1)); ok && len(next) < n; t, ok = s.next(t) {
		next = append(next, formatTime(t))
	}
	if len(next) > 0 {
		text += "; next: " + strings.Join(next, ", ")
	}
	return text
}

func formatTime(t time.Time) string { return t.Format("Mon 2 Jan 2006 15:04") + formatSeconds(t) }

func formatSeconds(t time.Time) string {
	if t.Second() == 0 {
		return ""
	}
	return t.Format(":05")
}

// inUTC is the same instant in UTC, with its date if that differs.
func inUTC(t time.Time) string {
	if _, offset := t.Zone(); offset == 0 && t.Location().String() == "UTC" {
		return ""
	}
	u := t.UTC()
	if u.Day() != t.Day() {
		return " (" + u.Format("Mon 2 Jan 15:04") + formatSeconds(t) + " UTC)"
	}
	return " (" + u.Format("15:04") + formatSeconds(t) + " UTC)"
}

// clockTimes are the times of day.
func (s *series) clockTimes() string {
	var texts []string
	for _, t := range s.timesOfDay {
		u := time.Unix(t, 0).UTC()
		texts = append(texts, u.Format("15:04")+formatSeconds(u))
	}
	return strings.Join(texts, ", ")
}

// inWords says a rule in words, or shows the rule itself if they would be long.
func (r *rule) inWords(at time.Time) string {
	own := "by the rule " + r.String()
	if len(r.yearDays) > 0 || len(r.positions) > 0 && !r.isMonthEnd() {
		return own
	}
	days, dates, months := len(r.days) > 0, len(r.monthDays) > 0, len(r.months) > 0
	switch {
	case r.freq == "DAILY" && !days && !dates && !months:
		return r.everyText("day")
	case r.freq == "WEEKLY" && !months:
		return r.weeklyText(at)
	case r.freq == "MONTHLY" && !months && !(days && dates):
		return r.everyText("month") + " on " + r.monthDayText(at)
	case r.freq == "YEARLY" && !days && !dates && !months:
		return r.everyText("year") + " on " + at.Format("2 January")
	}
	return own
}

// isMonthEnd reports whether this is a rule of [monthly] for a day that not
// every month has.
func (r *rule) isMonthEnd() bool {
	return r.freq == "MONTHLY" && slices.Equal(r.positions, []int{-1}) && len(r.days) == 0 &&
		len(r.monthDays) > 1 && slices.Equal(r.monthDays, []int{28, 29, 30, 31}[:len(r.monthDays)])
}

func (r *rule) everyText(unit string) string {
	if r.interval == 1 {
		return "every " + unit
	}
	return "every " + strconv.Itoa(r.interval) + " " + unit + "s"
}

func (r *rule) weeklyText(at time.Time) string {
	if r.interval == 1 && joinTexts(r.days, ordinalDay.String) == "MO,TU,WE,TH,FR" {
		return "every weekday"
	}
	days := r.days
	if len(days) == 0 {
		days = []ordinalDay{{day: at.Weekday()}}
	}
	return r.everyText("week") + " on " + joinTexts(days, func(d ordinalDay) string { return " " + d.day.String() })[1:]
}

func (r *rule) monthDayText(at time.Time) string {
	switch {
	case r.isMonthEnd():
		return fmt.Sprintf("day %d, or the last day of shorter months,", r.monthDays[len(r.monthDays)-1])
	case len(r.monthDays) > 0:
		return joinTexts(r.monthDays, func(n int) string { return " " + dateName(n) })[1:]
	case len(r.days) > 0:
		return joinTexts(r.days, func(d ordinalDay) string { return " " + d.name() })[1:]
	}
	return dateName(at.Day())
}

func dateName(n int) string {
	switch {
	case n == -1:
		return "the last day"
	case n < 0:
		return fmt.Sprintf("the %s last day", ordinal(-n))
	}
	return "day " + strconv.Itoa(n)
}

func (d ordinalDay) name() string {
	switch {
	case d.n == 0:
		return "each " + d.day.String()
	case d.n == -1:
		return "the last " + d.day.String()
	case d.n < 0:
		return "the " + ordinal(-d.n) + " last " + d.day.String()
	}
	return "the " + ordinal(d.n) + " " + d.day.String()
}

func ordinal(n int) string {
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			return strconv.Itoa(n) + "st"
		case 2:
			return strconv.Itoa(n) + "nd"
		case 3:
			return strconv.Itoa(n) + "rd"
		}
	}
	return strconv.Itoa(n) + "th"
}

// endText says when a rule ends.
func (r *rule) endText(zone *time.Location) string {
	switch {
	case r.count == 1:
		return ", once"
	case r.count > 1:
		return fmt.Sprintf(", %d times", r.count)
	case !r.until.IsZero():
		return ", until " + formatTime(r.until.In(zone))
	}
	return ""
}
