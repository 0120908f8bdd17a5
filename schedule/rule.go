package schedule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A rule is a parsed RRULE.
type rule struct {
	freq      string // DAILY, WEEKLY, MONTHLY or YEARLY
	interval  int
	count     int       // 0 for no end
	until     time.Time // zero for no end
	weekStart time.Weekday

	months, monthDays, yearDays []int
	days                        []ordinalDay
	hours, minutes              []int
	positions                   []int // BYSETPOS
}

// An ordinalDay is MO, or 2MO for the second Monday, or -1MO for the last.
type ordinalDay struct {
	n   int // 0 means every one
	day time.Weekday
}

// dayNames are the weekdays of RFC 5545, in Go's order.
var dayNames = []string{"SU", "MO", "TU", "WE", "TH", "FR", "SA"}

func (d ordinalDay) String() string {
	if d.n == 0 {
		return dayNames[d.day]
	}
	return strconv.Itoa(d.n) + dayNames[d.day]
}

// maxTimesPerDay is how many times of day a rule may name.
const maxTimesPerDay = 24

// parseRule parses a rule. Its errors complete a sentence about it. An UNTIL
// without a Z is in zone.
func parseRule(text string, zone *time.Location) (*rule, error) {
	r := &rule{interval: 1, weekStart: time.Monday}
	seen := map[string]bool{}
	for part := range strings.SplitSeq(strings.TrimSuffix(text, ";"), ";") {
		name, value, ok := strings.Cut(part, "=")
		if !ok || value == "" {
			return nil, fmt.Errorf("%s is not NAME=VALUE", quoted(part))
		}
		if seen[name] {
			return nil, fmt.Errorf("%s appears twice", name)
		}
		seen[name] = true
		if err := r.set(name, value, zone); err != nil {
			return nil, err
		}
	}
	return r, r.check()
}

func (r *rule) set(name, value string, zone *time.Location) (err error) {
	switch name {
	case "FREQ":
		return r.setFreq(value)
	case "INTERVAL":
		r.interval, err = parseNumber(name, value, 1, 366)
	case "COUNT":
		r.count, err = parseNumber(name, value, 1, 1000)
	case "UNTIL":
		r.until, err = parseRepeatEnd(value, zone)
	case "WKST":
		day := slices.Index(dayNames, value)
		if day < 0 {
			return fmt.Errorf("WKST=%s is not one of MO TU WE TH FR SA SU", value)
		}
		r.weekStart = time.Weekday(day)
	case "BYMONTH":
		r.months, err = parseNumbers(name, value, 1, 12)
	case "BYMONTHDAY":
		r.monthDays, err = parseNumbers(name, value, -31, 31)
	case "BYYEARDAY":
		r.yearDays, err = parseNumbers(name, value, -366, 366)
	case "BYDAY":
		r.days, err = parseDays(value)
	case "BYHOUR":
		r.hours, err = parseNumbers(name, value, 0, 23)
	case "BYMINUTE":
		r.minutes, err = parseNumbers(name, value, 0, 59)
	case "BYSETPOS":
		r.positions, err = parseNumbers(name, value, -366*maxTimesPerDay, 366*maxTimesPerDay)
	default:
		return fmt.Errorf("%s is not known", quoted(name))
	}
	return err
}

func (r *rule) setFreq(value string) error {
	switch value {
	case "DAILY", "WEEKLY", "MONTHLY", "YEARLY":
		r.freq = value
		return nil
	case "HOURLY", "MINUTELY", "SECONDLY":
		return fmt.Errorf("FREQ=%s is too often; FREQ=DAILY;BYHOUR=9,12,15 names the hours of a day", value)
	}
	return fmt.Errorf("FREQ=%s is not one of DAILY, WEEKLY, MONTHLY, YEARLY", value)
}

// check checks that the parts go together.
func (r *rule) check() error {
	ordinals := slices.ContainsFunc(r.days, func(d ordinalDay) bool { return d.n != 0 })
	switch {
	case r.freq == "":
		return fmt.Errorf("FREQ is missing")
	case r.count > 0 && !r.until.IsZero():
		return fmt.Errorf("COUNT and UNTIL exclude each other")
	case ordinals && r.freq != "MONTHLY" && r.freq != "YEARLY":
		return fmt.Errorf("BYDAY may have numbers only with FREQ=MONTHLY or YEARLY")
	case len(r.monthDays) > 0 && r.freq == "WEEKLY":
		return fmt.Errorf("BYMONTHDAY is not allowed with FREQ=WEEKLY")
	case len(r.yearDays) > 0 && r.freq != "YEARLY":
		return fmt.Errorf("BYYEARDAY is allowed only with FREQ=YEARLY")
	case len(r.positions) > 0 && len(r.months)+len(r.monthDays)+len(r.yearDays)+len(r.days)+len(r.hours)+len(r.minutes) == 0:
		return fmt.Errorf("BYSETPOS needs another BY part to choose from")
	case max(1, len(r.hours))*max(1, len(r.minutes)) > maxTimesPerDay:
		return fmt.Errorf("BYHOUR and BYMINUTE name more than %d times a day", maxTimesPerDay)
	}
	return nil
}

// parseNumber reads a number within bounds.
func parseNumber(name, value string, low, high int) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("%s=%s is not a number from %d to %d", name, quoted(value), low, high)
	}
	return n, nil
}

// parseNumbers reads a list of numbers. One that may be negative may not be 0.
func parseNumbers(name, value string, low, high int) ([]int, error) {
	var list []int
	for item := range strings.SplitSeq(value, ",") {
		n, err := parseNumber(name, item, low, high)
		if err != nil {
			return nil, err
		}
		if n == 0 && low < 0 {
			return nil, fmt.Errorf("%s=0 is not allowed: it counts from 1, or from the end with -1", name)
		}
		list = append(list, n)
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

func parseDays(value string) ([]ordinalDay, error) {
	var list []ordinalDay
	for item := range strings.SplitSeq(value, ",") {
		day := -1
		if len(item) >= 2 {
			day = slices.Index(dayNames, item[len(item)-2:])
		}
		if day < 0 {
			return nil, fmt.Errorf("BYDAY=%s is not one of MO TU WE TH FR SA SU", quoted(item))
		}
		d := ordinalDay{day: time.Weekday(day)}
		if digits := item[:len(item)-2]; digits != "" {
			n, err := parseNumber("BYDAY", digits, -53, 53)
			if err != nil || n == 0 {
				return nil, fmt.Errorf("BYDAY=%s counts neither from 1 nor from -1", quoted(item))
			}
			d.n = n
		}
		list = append(list, d)
	}
	// People read a week from Monday.
	slices.SortFunc(list, func(a, b ordinalDay) int {
		if a.n != b.n {
			return a.n - b.n
		}
		return int(a.day+6)%7 - int(b.day+6)%7
	})
	return slices.Compact(list), nil
}

// untilLayout is the form of UNTIL that goes with a start in a named zone.
const untilLayout = "20060102T150405Z"

// parseRepeatEnd reads the last time of a rule. A date includes the whole day.
func parseRepeatEnd(value string, zone *time.Location) (time.Time, error) {
	if t, err := time.Parse(untilLayout, value); err == nil {
		return t, nil
	}
	t, err := time.Parse("20060102T150405", value)
	if err != nil {
		if t, err = time.Parse("20060102", value); err == nil {
			t = t.Add(24*time.Hour - time.Second)
		}
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("UNTIL=%s is neither like 20271231T235959Z nor like 20271231", quoted(value))
	}
	_, last := instants(t.Unix(), zone)
	return last.UTC(), nil
}

// String is the rule in its canonical form, without default values.
func (r *rule) String() string {
	parts := []string{"FREQ=" + r.freq}
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+"="+value)
		}
	}
	if r.interval != 1 {
		add("INTERVAL", strconv.Itoa(r.interval))
	}
	if r.count != 0 {
		add("COUNT", strconv.Itoa(r.count))
	}
	if !r.until.IsZero() {
		add("UNTIL", r.until.Format(untilLayout))
	}
	add("BYMONTH", joinTexts(r.months, strconv.Itoa))
	add("BYMONTHDAY", joinTexts(r.monthDays, strconv.Itoa))
	add("BYYEARDAY", joinTexts(r.yearDays, strconv.Itoa))
	add("BYDAY", joinTexts(r.days, ordinalDay.String))
	add("BYHOUR", joinTexts(r.hours, strconv.Itoa))
	add("BYMINUTE", joinTexts(r.minutes, strconv.Itoa))
	add("BYSETPOS", joinTexts(r.positions, strconv.Itoa))
	if r.weekStart != time.Monday {
		add("WKST", dayNames[r.weekStart])
	}
	return strings.Join(parts, ";")
}

func joinTexts[T any](list []T, show func(T) string) string {
	var texts []string
	for _, item := range list {
		texts = append(texts, show(item))
	}
	return strings.Join(texts, ",")
}
