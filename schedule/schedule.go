// Package schedule says when things are, so that "every weekday at nine" stays
// at nine on its owner's clock, and a time that could be read in two ways is
// asked about rather than guessed.
//
// All of it is pure. Rules are those of RFC 5545, of which it takes what a
// person would want of a reminder; whatever it accepts is worked out in a
// bounded time, however seldom it occurs.
package schedule

import (
	"math"
	"strconv"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/safetext"
)

// ahead is how far from now, in years, something may be.
const ahead = 5

// maxMinutes is how long an appointment may be: a week.
const maxMinutes = 7 * 24 * 60

// Length is an appointment's length: whole minutes, from one to a week.
func Length(minutes float64) (time.Duration, error) {
	if !(minutes >= 1 && minutes <= maxMinutes) {
		return 0, hearken.Errorf(hearken.DurationOutOfRange, "A duration is 1 to %d minutes (7 days), not %v.", maxMinutes, minutes)
	}
	if minutes != math.Trunc(minutes) {
		return 0, hearken.Errorf(hearken.DurationOutOfRange, "A duration is in whole minutes, not %v.", minutes)
	}
	return time.Duration(minutes) * time.Minute, nil
}

// quoted shows text from outside in a sentence: on one line, and shortened.
func quoted(text string) string { return strconv.QuoteToGraphic(safetext.Clip(text, 60)) }
