package schedule

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
)

// isoTime is RFC 3339, and the other forms of ISO 8601 that people and models
// write and nobody can misread: no seconds, an offset without a colon, no
// offset.
var isoTime = regexp.MustCompile(`^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?([Zz]|[+-]\d\d:?\d\d)?$`)

// Frequent mistakes.
var (
	dateOnly  = regexp.MustCompile(`^\d{4}-?\d\d-?\d\d$`)
	withSpace = regexp.MustCompile(`^\d{4}-\d\d-\d\d +\d\d:\d\d`)
	shortZone = regexp.MustCompile(`[Tt]\d\d:\d\d(:\d\d)?[+-]\d{1,2}$`)
)

// ParseTime reads an ISO 8601 time. Without an offset it is on the wall clock
// of zone, and must not be in an hour that the clocks skip or show twice. The
// result is in zone and in whole seconds, as calendars store it.
func ParseTime(text string, zone *time.Location, now time.Time) (time.Time, error) {
	at, err := parseInstant(strings.TrimSpace(text), zone, now)
	if err != nil {
		return time.Time{}, err
	}
	if zone != nil {
		at, now = at.In(zone), now.In(zone)
	} else {
		at, now = at.UTC(), now.UTC()
	}
	switch {
	case at.Before(now.Add(-time.Minute)):
		return time.Time{}, hearken.Errorf(hearken.TimeInPast, "%s is in the past: it is now %s.", at.Format(time.RFC3339), now.Format(time.RFC3339))
	case at.After(now.AddDate(maxYearsAhead, 0, 0)):
		return time.Time{}, hearken.Errorf(hearken.InvalidTime, "%s is more than %d years ahead: it is now %s.", at.Format(time.RFC3339), maxYearsAhead, now.Format(time.RFC3339))
	}
	return at, nil
}

func parseInstant(text string, zone *time.Location, now time.Time) (time.Time, error) {
	parts := isoTime.FindStringSubmatch(text)
	if parts == nil {
		return time.Time{}, badTimeError(text, zone, now)
	}
	var n [6]int // year to second
	for i := range n {
		n[i], _ = strconv.Atoi(parts[i+1])
	}
	floating := time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], 0, time.UTC)
	if floating.Format("2006-01-02T15:04:05") != text[:10]+"T"+parts[4]+":"+parts[5]+":"+cmp.Or(parts[6], "00") {
		return time.Time{}, hearken.Errorf(hearken.InvalidTime, "%s is not a date and time that exists.", quoted(text))
	}
	if parts[7] == "" {
		return onWallClock(text, floating, zone)
	}
	offset, ok := parseOffset(parts[7])
	if !ok {
		return time.Time{}, hearken.Errorf(hearken.InvalidTime, "%s has an offset that no place on earth has. Offsets are from -12:00 to +14:00.", quoted(text))
	}
	return floating.Add(-offset), nil
}

// parseOffset reads Z, +hh:mm or +hhmm.
func parseOffset(text string) (time.Duration, bool) {
	if text == "Z" || text == "z" {
		return 0, true
	}
	digits := strings.Replace(text[1:], ":", "", 1)
	hours, _ := strconv.Atoi(digits[:2])
	minutes, _ := strconv.Atoi(digits[2:])
	offset := time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
	if text[0] == '-' {
		return -offset, minutes < 60 && offset <= 12*time.Hour
	}
	return offset, minutes < 60 && offset <= 14*time.Hour
}

// onWallClock is the only instant at which zone's clock shows a time.
func onWallClock(text string, floating time.Time, zone *time.Location) (time.Time, error) {
	if zone == nil {
		return time.Time{}, hearken.Errorf(hearken.InvalidTime, "%s has no offset, and TIMEZONE is not set, so its meaning is unclear.", quoted(text)).
			WithTry("%s+01:00 with your offset, or set TIMEZONE to a name such as Europe/Berlin", text)
	}
	first, second := instants(floating.Unix(), zone)
	switch kindOf(floating.Unix(), first, second, zone) {
	case skipped:
		return time.Time{}, hearken.Errorf(hearken.InvalidTime, "%s does not exist in %s: the clocks go forward over it. It could mean %s or %s.",
			quoted(text), zone, second.Format(time.RFC3339), first.Format(time.RFC3339)).WithTry("one of the two, with its offset")
	case doubled:
		return time.Time{}, hearken.Errorf(hearken.InvalidTime, "%s happens twice in %s: the clocks go back over it. It could mean %s or %s.",
			quoted(text), zone, first.Format(time.RFC3339), second.Format(time.RFC3339)).WithTry("one of the two, with its offset")
	}
	return first, nil
}

// badTimeError is the error for a text that is not a time.
func badTimeError(text string, zone *time.Location, now time.Time) error {
	if zone != nil {
		now = now.In(zone)
	}
	example := now.AddDate(0, 0, 1).Truncate(time.Minute).Format(time.RFC3339)
	wrong := "is not an ISO 8601 time"
	switch {
	case text == "":
		return hearken.Errorf(hearken.InvalidTime, "The time is missing.").WithTry("%s", example)
	case dateOnly.MatchString(text):
		wrong = "is a date without a time of day"
	case withSpace.MatchString(text):
		wrong = "needs a T between the date and the time, not a space"
	case shortZone.MatchString(text):
		wrong = "needs its offset as +hh:mm"
	}
	return hearken.Errorf(hearken.InvalidTime, "%s %s. It is now %s.", quoted(text), wrong, now.Format(time.RFC3339)).WithTry("%s", example)
}

// wallKind says how often the clocks of a zone show a time. Times here are
// wall clock times, in seconds as if they were UTC.
type wallKind int

const (
	unique  wallKind = iota
	skipped          // the clocks go forward over it
	doubled          // the clocks go back over it
)

// instants are when zone's clock shows a wall clock time. Usually both are the
// same. For a doubled time they are its two instants. For a skipped one, first
// uses the offset from before the change, as RFC 5545 says, and second the
// offset from after it, which is earlier.
func instants(wall int64, zone *time.Location) (first, second time.Time) {
	near := time.Unix(wall, 0).In(zone)
	_, guess := near.Zone()
	near = near.Add(-time.Duration(guess) * time.Second)
	_, offset := near.Zone()
	from, to := near.ZoneBounds()
	for _, change := range []time.Time{from, to} {
		if change.IsZero() {
			continue
		}
		_, before := change.Add(-1).Zone()
		_, after := change.Zone()
		low, high := change.Unix()+int64(min(before, after)), change.Unix()+int64(max(before, after))
		if wall >= low && wall < high {
			return instantAt(wall, before, zone), instantAt(wall, after, zone)
		}
		// The guess may be on the wrong side of the change.
		if change.Equal(from) && wall < low {
			offset = before
		}
		if change.Equal(to) && wall >= high {
			offset = after
		}
	}
	t := instantAt(wall, offset, zone)
	return t, t
}

func instantAt(wall int64, offset int, zone *time.Location) time.Time {
	return time.Unix(wall-int64(offset), 0).In(zone)
}

func kindOf(wall int64, first, second time.Time, zone *time.Location) wallKind {
	switch {
	case first.Equal(second):
		return unique
	case wallOf(first, zone) == wall:
		return doubled
	}
	return skipped
}

// wallOf is the wall clock time that zone's clock shows at an instant.
func wallOf(t time.Time, zone *time.Location) int64 {
	_, offset := t.In(zone).Zone()
	return t.Unix() + int64(offset)
}
