package moonshine

import (
	"strings"
	"unicode/utf8"

	"github.com/hearken-dev/hearken"
)

// words spreads the words of a text over the speech of an utterance. Each gets
// time by its length in letters, pauses get none: the times are estimates.
func words(text string, u *utterance) []hearken.Word {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return nil
	}
	total := 0
	for _, f := range fields {
		total += weight(f)
	}
	clock := newVoiced(u)
	out := make([]hearken.Word, len(fields))
	done := 0
	for i, f := range fields {
		out[i] = hearken.Word{Word: f, StartTime: clock.at(done, total, true)}
		done += weight(f)
		out[i].EndTime = clock.at(done, total, false)
	}
	return out
}

// weight is a word's share of the time: its letters, and one for the gap.
func weight(word string) int { return utf8.RuneCountInString(word) + 1 }

// A voiced clock runs only while somebody speaks.
type voiced struct {
	u      *utterance
	starts []int64 // of each window of speech
}

func newVoiced(u *utterance) *voiced {
	v := &voiced{u: u}
	for i, p := range u.probs {
		pos := u.pos + int64(i)*window
		if pos >= u.first && pos < u.last && p >= offThreshold {
			v.starts = append(v.starts, pos)
		}
	}
	return v
}

// at is the moment when part of total is over. At the edge of a pause a word
// that starts there starts after it, and one that ends there ends before it.
func (v *voiced) at(part, total int, starts bool) float64 {
	n := len(v.starts)
	if n == 0 {
		share := float64(part) / float64(total)
		return at(v.u.first) + share*at(v.u.last-v.u.first)
	}
	x := float64(part) / float64(total) * float64(n)
	i := int(x)
	rest := x - float64(i)
	if i >= n || (rest == 0 && !starts && i > 0) {
		i, rest = min(i, n)-1, 1
	}
	return min(at(v.starts[i])+rest*window/hearken.SampleRate, at(v.u.last))
}
