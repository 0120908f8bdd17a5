package utterance

import (
	"strings"
	"unicode/utf8"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt"
)

// EstimateWords spreads the words of a text over the speech between two
// moments, in seconds. Each word gets time by its length in letters, pauses
// get none. Speech says which windows from the position start on hold speech.
func EstimateWords(text string, start int64, speech []bool, from, to float64) []hearken.Word {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return nil
	}
	total := 0
	for _, f := range fields {
		total += weight(f)
	}
	clock := speechClock{from: from, to: to}
	for i, is := range speech {
		if t := stt.Seconds(start + int64(i)*Window); is && t >= from && t < to {
			clock.windows = append(clock.windows, t)
		}
	}
	words := make([]hearken.Word, len(fields))
	done := 0
	for i, f := range fields {
		words[i] = hearken.Word{Word: f, StartTime: clock.timeOf(float64(done)/float64(total), true)}
		done += weight(f)
		words[i].EndTime = clock.timeOf(float64(done)/float64(total), false)
	}
	return words
}

// weight is a word's share of the time: its letters, and one for the gap.
func weight(word string) int { return utf8.RuneCountInString(word) + 1 }

// A speechClock runs only while somebody speaks.
type speechClock struct {
	from, to float64
	windows  []float64 // when each window of speech starts
}

// timeOf is the moment when a share of the speech is over. At the edge of a pause a
// word that starts there starts after it, and one that ends there ends before
// it.
func (c *speechClock) timeOf(share float64, starts bool) float64 {
	n := len(c.windows)
	if n == 0 {
		return c.from + share*(c.to-c.from)
	}
	x := share * float64(n)
	i := int(x)
	rest := x - float64(i)
	if i >= n || rest == 0 && !starts && i > 0 {
		i, rest = min(i, n)-1, 1
	}
	return min(c.windows[i]+rest*stt.Seconds(Window), c.to)
}
