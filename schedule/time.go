package schedule

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
)

// stamp is RFC 3339, with what else people and models write of ISO 8601 and
// nobody can misread: no seconds, an offset without its colon, no offset.
var stamp = regexp.MustCompile(`^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?([Zz]|[+-]\d\d:?\d\d)?$`)

// What a time is often mistaken for.
var (
	dateOnly  = regexp.MustCompile(`^\d{4}-?\d\d-?\d\d$`)
	withSpace = regexp.MustCompile(`^\d{4}-\d\d-\d\d +\d\d:\d\d`)
	shortZone = regexp.MustCompile(`[Tt]\d\d:\d\d(:\d\d)?[+-]\d{1,2}$`)
)

// ParseTime reads a time of ISO 8601. Without an offset it is meant on the wall
// clock of zone, and must then be one instant: not in an hour that the clock
// skips, nor in one that it shows twice. The result is in zone, and in whole
// seconds, as calendars keep them.
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
	case at.After(now.AddDate(ahead, 0, 0)):
		return time.Time{}, hearken.Errorf(hearken.InvalidTime, "%s is more than %d years ahead: it is now %s.", at.Format(time.RFC3339), ahead, now.Format(time.RFC3339))
	}
	return at, nil
}

func parseInstant(text string, zone *time.Location, now time.Time) (time.Time, error) {
	parts := stamp.FindStringSubmatch(text)
	if parts == nil {
		return time.Time{}, misread(text, zone, now)
	}
	var n [6]int // year to second; all are digits, or no seconds
	for i := range n {
		n[i], _ = strconv.Atoi(parts[i+1])
	}
	floating := time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], 0, time.UTC)
	if floating.Format("2006-01-02T15:04:05") != text[:10]+"T"+parts[4]+":"+parts[5]+":"+seconds(parts[6]) {
		return time.Time{}, hearken.Errorf(hearken.InvalidTime, "%s is no date and time that exists.", quoted(text))
	}
	if parts[7] == "" {
		return onWallClock(text, floating, zone)
	}
	offset, ok := parseOffset(parts[7])
	if !ok {
		return time.Time{}, hearken.Errorf(hearken.InvalidTime, "%s has an offset that no place on earth has: they go from -12:00 to +14:00.", quoted(text))
	}
	return floating.Add(-offset), nil
}

func seconds(digits string) string {
	if digits == "" {
		return "00"
	}
	return digits
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

// onWallClock is the one instant at which zone's clock shows a time.
func onWallClock(text string, floating time.Time, zone *time.Location) (time.Time, error) {
	if zone == nil {
		return time.Time{}, hearken.Errorf(hearken.InvalidTime, "%s has no offset, and TIMEZONE is not set, so nobody knows when it is.", quoted(text)).
			WithTry("%s+01:00 with your offset, or set TIMEZONE to a name such as Europe/Berlin", text)
	}
	first, second := instants(floating.Unix(), zone)
	switch kindOf(floating.Unix(), first, second, zone) {
	case skipped:
		return time.Time{}, hearken.Errorf(hearken.InvalidTime, "%s does not exist in %s: the clock is put forward over it. It could mean %s or %s.",
			quoted(text), zone, second.Format(time.RFC3339), first.Format(time.RFC3339)).WithTry("one of the two, with its offset")
	case doubled:
		return time.Time{}, hearken.Errorf(hearken.InvalidTime, "%s is twice in %s: the clock is put back over it. It could mean %s or %s.",
			quoted(text), zone, first.Format(time.RFC3339), second.Format(time.RFC3339)).WithTry("one of the two, with its offset")
	}
	return first, nil
}

// misread says what is wrong with a text that is no time, and what is right.
func misread(text string, zone *time.Location, now time.Time) error {
	if zone != nil {
		now = now.In(zone)
	}
	example := now.AddDate(0, 0, 1).Truncate(time.Minute).Format(time.RFC3339)
	wrong := "is no time of ISO 8601"
	switch {
	case text == "":
		return hearken.Errorf(hearken.InvalidTime, "The time is missing.").WithTry("%s", example)
	case dateOnly.MatchString(text):
		wrong = "is a day without a time of day"
	case withSpace.MatchString(text):
		wrong = "needs a T between the day and the time, in place of the space"
	case shortZone.MatchString(text):
		wrong = "needs its offset as +hh:mm"
	}
	return hearken.Errorf(hearken.InvalidTime, "%s %s. It is now %s.", quoted(text), wrong, now.Format(time.RFC3339)).WithTry("%s", example)
}
