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
	"unicode/utf8"

	"github.com/hearken-dev/hearken"
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

// quoted shows somebody's words in a sentence: on one line, and not for ever.
func quoted(text string) string {
	const most = 60
	if len(text) <= most {
		return strconv.QuoteToGraphic(text)
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return strconv.QuoteToGraphic(text[:cut]) + "..."
}
