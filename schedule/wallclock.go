package schedule

import "time"

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
