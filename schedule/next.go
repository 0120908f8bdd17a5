package schedule

import (
	"slices"
	"time"
)

// How many days are searched for the next time: of a new rule, and of one that
// was accepted. The calendar repeats after 28 years, or 40 where a century is
// no leap year; what does not occur in these never occurs.
const (
	usefulDays = maxYearsAhead*366 + 2
	maxDays    = 40*365 + 10
)

const day = 24 * 60 * 60 // in seconds

// Next is the first time of a rule after the given one, false if there is none.
// The rule is one of [ParseRepeat] and begins at the time at; an empty rule
// means only that time. With a rule, at is one of its times only if the rule
// includes it.
//
// Rules follow the wall clock of zone: nine o'clock stays nine o'clock. As RFC
// 5545 says, a time that the clocks skip is moved forward by what they skip,
// and of a time that they show twice the first is meant.
func Next(rule string, at time.Time, zone *time.Location, after time.Time) (time.Time, bool) {
	if zone == nil {
		zone = at.Location()
	}
	if rule == "" {
		return at.In(zone), at.After(after)
	}
	r, err := parseRule(rule, zone)
	if err != nil {
		return time.Time{}, false
	}
	return newSeries(r, at, zone).next(after)
}

// A series is a rule with its start. Its times are wall clock times until the
// end, so that daylight saving does not disturb the counting of days.
//
// The expansion is our own because it is bounded: rrule-go searches until the
// year 9999. See docs/dependencies.md.
type series struct {
	*rule
	start      int64 // on the wall clock
	startAt    time.Time
	zone       *time.Location
	searchDays int64
	timesOfDay []int64
	buffer     []int64 // for timesIn
}

func newSeries(r *rule, at time.Time, zone *time.Location) *series {
	own := *r
	s := &series{rule: &own, start: wallOf(at, zone), startAt: at.In(zone), zone: zone, searchDays: maxDays}
	first := time.Unix(s.start, 0).UTC()
	if len(own.yearDays)+len(own.monthDays)+len(own.days) == 0 {
		switch own.freq {
		case "WEEKLY":
			own.days = []ordinalDay{{day: first.Weekday()}}
		case "MONTHLY":
			own.monthDays = []int{first.Day()}
		case "YEARLY":
			own.monthDays = []int{first.Day()}
			if len(own.months) == 0 {
				own.months = []int{int(first.Month())}
			}
		}
	}
	hours, minutes := own.hours, own.minutes
	if len(hours) == 0 {
		hours = []int{first.Hour()}
	}
	if len(minutes) == 0 {
		minutes = []int{first.Minute()}
	}
	for _, h := range hours {
		for _, m := range minutes {
			s.timesOfDay = append(s.timesOfDay, int64(h*3600+m*60+first.Second()))
		}
	}
	return s
}

// next is the first instant after the given one.
func (s *series) next(after time.Time) (best time.Time, found bool) {
	from := max(wallOf(after, s.zone), s.start)
	last := from/day + s.searchDays
	if !s.until.IsZero() {
		last = min(last, wallOf(s.until, s.zone)/day+1)
	}
	k, counted := 0, 0
	if s.count == 0 {
		// A skipped time is moved by as much as the clocks skip: an hour, and in
		// Samoa once a day.
		k = max(0, s.periodAt(from/day-2))
	}
	for ; ; k++ {
		first, days := s.period(k)
		if first > last || found && first > wallOf(best, s.zone)/day+2 {
			return best, found
		}
		for _, wall := range s.timesIn(first, days) {
			if counted++; s.count > 0 && counted > s.count {
				return best, found
			}
			t := s.instant(wall)
			if !t.After(after) || !s.until.IsZero() && t.After(s.until) {
				continue
			}
			if !found || t.Before(best) {
				best, found = t, true
			}
		}
	}
}

// instant is when the clock shows a time. The start keeps its own instant, even
// if that is the second of two.
func (s *series) instant(wall int64) time.Time {
	if wall == s.start {
		return s.startAt
	}
	t, _ := instants(wall, s.zone)
	return t.Add(time.Duration(s.startAt.Nanosecond()))
}

// period is the first day, counted from 1970, and the number of days of the kth
// day, week, month or year of the rule.
func (s *series) period(k int) (first int64, days int) {
	k *= s.interval
	start := s.start / day
	t := time.Unix(s.start, 0).UTC()
	switch s.freq {
	case "DAILY":
		return start + int64(k), 1
	case "WEEKLY":
		return s.firstOfWeek(start) + int64(7*k), 7
	case "MONTHLY":
		first = firstOfMonth(t.Year(), t.Month()+time.Month(k))
		return first, int(firstOfMonth(t.Year(), t.Month()+time.Month(k+1)) - first)
	default:
		first = firstOfMonth(t.Year()+k, time.January)
		return first, int(firstOfMonth(t.Year()+k+1, time.January) - first)
	}
}

// periodAt is the last period that begins on or before a day.
func (s *series) periodAt(d int64) int {
	start, t, then := s.start/day, time.Unix(s.start, 0).UTC(), time.Unix(d*day, 0).UTC()
	var passed int
	switch s.freq {
	case "DAILY":
		passed = int(d - start)
	case "WEEKLY":
		passed = int(s.firstOfWeek(d)-s.firstOfWeek(start)) / 7
	case "MONTHLY":
		passed = 12*(then.Year()-t.Year()) + int(then.Month()-t.Month())
	default:
		passed = then.Year() - t.Year()
	}
	return passed / s.interval
}

// firstOfWeek is the first day of a day's week. Day 0 was a Thursday.
func (s *series) firstOfWeek(d int64) int64 {
	return d - (d+4+7-int64(s.weekStart))%7
}

// firstOfMonth is the first day of a month, counted from 1970.
func firstOfMonth(year int, month time.Month) int64 {
	return time.Date(year, month, 1, 0, 0, 0, 0, time.UTC).Unix() / day
}

// timesIn are the times in a period, in order. They are valid until the next
// call. Positions count all of the period's times, even those before the start.
func (s *series) timesIn(first int64, days int) []int64 {
	found := s.buffer[:0]
	for d := first; d < first+int64(days); d++ {
		if s.includesDay(d) {
			for _, t := range s.timesOfDay {
				found = append(found, d*day+t)
			}
		}
	}
	s.buffer = found
	if len(s.positions) > 0 && len(found) > 0 {
		var chosen []int64
		for _, p := range s.positions {
			if p < 0 {
				p += len(found) + 1
			}
			if p >= 1 && p <= len(found) {
				chosen = append(chosen, found[p-1])
			}
		}
		slices.Sort(chosen)
		found = slices.Compact(chosen)
	}
	return slices.DeleteFunc(found, func(wall int64) bool { return wall < s.start })
}

// includesDay reports whether the rule includes a day.
func (s *series) includesDay(d int64) bool {
	t := time.Unix(d*day, 0).UTC()
	year, month, date := t.Date()
	if len(s.months) > 0 && !slices.Contains(s.months, int(month)) {
		return false
	}
	if len(s.monthDays) > 0 && !slices.Contains(s.monthDays, date) &&
		!slices.Contains(s.monthDays, date-1-int(firstOfMonth(year, month+1)-firstOfMonth(year, month))) {
		return false
	}
	if len(s.yearDays) > 0 && !slices.Contains(s.yearDays, t.YearDay()) &&
		!slices.Contains(s.yearDays, int(d-firstOfMonth(year+1, time.January))) {
		return false
	}
	return len(s.days) == 0 || slices.ContainsFunc(s.days, func(o ordinalDay) bool {
		return o.day == t.Weekday() && (o.n == 0 || s.isNth(o.n, d, year, month))
	})
}

// isNth reports whether a day is the nth of its weekday in its month, or in its
// year for a yearly rule that names no months.
func (s *series) isNth(n int, d int64, year int, month time.Month) bool {
	first, next := firstOfMonth(year, month), firstOfMonth(year, month+1)
	if s.freq == "YEARLY" && len(s.months) == 0 {
		first, next = firstOfMonth(year, time.January), firstOfMonth(year+1, time.January)
	}
	if n > 0 {
		return int(d-first)/7+1 == n
	}
	return int(next-1-d)/7+1 == -n
}
