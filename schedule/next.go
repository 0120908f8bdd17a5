package schedule

import (
	"slices"
	"time"
)

// How many days a next time is searched: to tell whether a rule is of use, and
// to go on with one that is. The calendar repeats after 28 years, or 40 where a
// century is no leap year; what does not happen in these does not happen.
const (
	usefulWithin = ahead*366 + 2
	foundWithin  = 40*365 + 10
)

const day = 24 * 60 * 60 // in seconds

// Next is the first time after the given one at which something happens that
// first could at the time at, and then by a rule of [ParseRepeat]; an empty rule
// is once. False says that there is none. A rule decides alone: at itself is a
// time only if the rule has it.
//
// Rules run on the wall clock of zone: nine o'clock stays nine o'clock. As RFC
// 5545 has it, a time that the clock skips is an hour later on it, and of one
// that it shows twice the first is meant.
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

// A series is a rule with its beginning. Times in it are on the wall clock, in
// seconds as if they were UTC, until they are turned into instants at the end:
// no daylight saving disturbs the counting of days.
//
// The expansion is our own for its bound: the library looks for a next time
// through the year 9999.
type series struct {
	*rule
	start int64
	zone  *time.Location
	reach int64     // how many days are searched
	times []int64   // of a day
	found []int64   // memory of walls
	begin time.Time // the instant of start
}

func newSeries(r *rule, at time.Time, zone *time.Location) *series {
	own := *r
	s := &series{rule: &own, start: wallOf(at, zone), zone: zone, reach: foundWithin, begin: at.In(zone)}
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
			s.times = append(s.times, int64(h*3600+m*60+first.Second()))
		}
	}
	return s
}

// next is the first instant after the given one.
func (s *series) next(after time.Time) (best time.Time, found bool) {
	from := max(wallOf(after, s.zone), s.start)
	last := from/day + s.reach
	if !s.until.IsZero() {
		last = min(last, wallOf(s.until, s.zone)/day+1)
	}
	k, counted := 0, 0
	if s.count == 0 {
		// A skipped time is later than it says, by as much as the clock skips:
		// an hour, and in Samoa once a day.
		k = max(0, s.periodOf(from/day-2))
	}
	for ; ; k++ {
		first, days := s.period(k)
		if first > last || found && first > wallOf(best, s.zone)/day+2 {
			return best, found
		}
		for _, wall := range s.walls(first, days) {
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

// instant is when the clock shows a time. The first is the one that was given,
// also if it is the second of two.
func (s *series) instant(wall int64) time.Time {
	if wall == s.start {
		return s.begin
	}
	t, _ := instants(wall, s.zone)
	return t.Add(time.Duration(s.begin.Nanosecond()))
}

// period is the first day, counted from 1970, and the length of the kth day,
// week, month or year in which the rule may have times.
func (s *series) period(k int) (first int64, days int) {
	k *= s.interval
	start := s.start / day
	t := time.Unix(s.start, 0).UTC()
	switch s.freq {
	case "DAILY":
		return start + int64(k), 1
	case "WEEKLY":
		return s.week(start) + int64(7*k), 7
	case "MONTHLY":
		first = dayOf(t.Year(), t.Month()+time.Month(k))
		return first, int(dayOf(t.Year(), t.Month()+time.Month(k+1)) - first)
	default:
		first = dayOf(t.Year()+k, time.January)
		return first, int(dayOf(t.Year()+k+1, time.January) - first)
	}
}

// periodOf is the last period that begins on a day or before.
func (s *series) periodOf(d int64) int {
	start, t, then := s.start/day, time.Unix(s.start, 0).UTC(), time.Unix(d*day, 0).UTC()
	var passed int
	switch s.freq {
	case "DAILY":
		passed = int(d - start)
	case "WEEKLY":
		passed = int(s.week(d)-s.week(start)) / 7
	case "MONTHLY":
		passed = 12*(then.Year()-t.Year()) + int(then.Month()-t.Month())
	default:
		passed = then.Year() - t.Year()
	}
	return passed / s.interval
}

// week is the first day of the week of a day. Day 0 was a Thursday.
func (s *series) week(d int64) int64 {
	return d - (d+4+7-int64(s.weekStart))%7
}

// dayOf is the first day of a month, counted from 1970.
func dayOf(year int, month time.Month) int64 {
	return time.Date(year, month, 1, 0, 0, 0, 0, time.UTC).Unix() / day
}

// walls are the times in a period, in order, until the next call. Positions are
// chosen among all of the period's, also those from before the start.
func (s *series) walls(first int64, days int) []int64 {
	found := s.found[:0]
	for d := first; d < first+int64(days); d++ {
		if s.has(d) {
			for _, t := range s.times {
				found = append(found, d*day+t)
			}
		}
	}
	s.found = found
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

// has reports whether a day is one of the rule's.
func (s *series) has(d int64) bool {
	t := time.Unix(d*day, 0).UTC()
	year, month, date := t.Date()
	if len(s.months) > 0 && !slices.Contains(s.months, int(month)) {
		return false
	}
	if len(s.monthDays) > 0 && !slices.Contains(s.monthDays, date) &&
		!slices.Contains(s.monthDays, date-1-int(dayOf(year, month+1)-dayOf(year, month))) {
		return false
	}
	if len(s.yearDays) > 0 && !slices.Contains(s.yearDays, t.YearDay()) &&
		!slices.Contains(s.yearDays, int(d-dayOf(year+1, time.January))) {
		return false
	}
	return len(s.days) == 0 || slices.ContainsFunc(s.days, func(o ordinalDay) bool {
		return o.day == t.Weekday() && (o.n == 0 || s.isNth(o.n, d, year, month))
	})
}

// isNth reports whether a day is the nth of its weekday in its month, or in its
// year for a yearly rule that names no months.
func (s *series) isNth(n int, d int64, year int, month time.Month) bool {
	first, next := dayOf(year, month), dayOf(year, month+1)
	if s.freq == "YEARLY" && len(s.months) == 0 {
		first, next = dayOf(year, time.January), dayOf(year+1, time.January)
	}
	if n > 0 {
		return int(d-first)/7+1 == n
	}
	return int(next-1-d)/7+1 == -n
}
