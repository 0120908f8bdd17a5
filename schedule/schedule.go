// Package schedule reads times and recurrence rules, and works out when a rule
// occurs next. "Every weekday at nine" stays at nine on the owner's clock, and a
// time that can be read in two ways is refused rather than guessed.
//
// All of it is pure. Rules are those of RFC 5545, as far as a reminder needs
// them. Whatever it accepts is worked out in a bounded time, however rarely it
// occurs.
package schedule

import (
	"math"
	"strconv"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/safetext"
)

const (
	maxYearsAhead = 5
	maxMinutes    = 7 * 24 * 60 // of an appointment
)

// Length checks an appointment's length, from a minute to a week. It has whole
// seconds.
func Length(minutes float64) (time.Duration, error) {
	if !(minutes >= 1 && minutes <= maxMinutes) {
		return 0, hearken.Errorf(hearken.DurationOutOfRange, "A duration must be 1 to %d minutes (7 days), not %v.", maxMinutes, minutes)
	}
	return time.Duration(math.Round(minutes*60)) * time.Second, nil
}

// quoted shows text from outside in a sentence: on one line, and shortened.
func quoted(text string) string { return strconv.QuoteToGraphic(safetext.Clip(text, 60)) }
