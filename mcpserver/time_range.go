package mcpserver

import (
	"strconv"
	"time"

	"github.com/hearken-dev/hearken/safetext"
)

// parseTimeRange reads the two ends of a time range; either may be empty.
func parseTimeRange(since, until string) (from, to time.Time, err error) {
	if from, err = parseTime("since", since); err != nil {
		return from, to, err
	}
	if to, err = parseTime("until", until); err != nil {
		return from, to, err
	}
	if !from.IsZero() && !to.IsZero() && !from.Before(to) {
		return from, to, invalid("since must be before until.")
	}
	return from, to, nil
}

// parseTime reads a time as models and people write it. Without an offset it is
// in the hub's time zone.
func parseTime(name, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	units := map[byte]time.Duration{'m': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}
	last := len(text) - 1
	if n, err := strconv.ParseUint(text[:last], 10, 16); err == nil && units[text[last]] != 0 {
		return time.Now().Add(-time.Duration(n) * units[text[last]]), nil
	}
	return time.Time{}, invalid("%s must be a time such as 2026-11-05T09:30:00Z, a date, or an age such as 90m, 2h or 7d, got %q.", name, safetext.Clip(text, 40))
}
