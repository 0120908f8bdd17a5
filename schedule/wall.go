package schedule

import "time"

// A clock that is put forward skips times, and one that is put back shows some
// twice.
type kind int

const (
	usual kind = iota
	skipped
	doubled
)

// instants are when zone's clock shows the given wall clock time, in seconds as
// if it were UTC. Usually both are the same. For a doubled time they are its
// two instants. For a skipped one, first is what RFC 5545 says, the offset from
// before the change, and second the other reading, which is earlier.
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
			return at(wall, before, zone), at(wall, after, zone)
		}
		// The guess may lie on the wrong side of the change.
		if change.Equal(from) && wall < low {
			offset = before
		}
		if change.Equal(to) && wall >= high {
			offset = after
		}
	}
	t := at(wall, offset, zone)
	return t, t
}

func at(wall int64, offset int, zone *time.Location) time.Time {
	return time.Unix(wall-int64(offset), 0).In(zone)
}

func kindOf(wall int64, first, second time.Time, zone *time.Location) kind {
	switch {
	case first.Equal(second):
		return usual
	case wallOf(first, zone) == wall:
		return doubled
	}
	return skipped
}

// wallOf is what zone's clock shows, in seconds as if it were UTC.
func wallOf(t time.Time, zone *time.Location) int64 {
	_, offset := t.In(zone).Zone()
	return t.Unix() + int64(offset)
}
