package live

import (
	"slices"

	"github.com/hearken-dev/hearken"
)

// A microphone beside a loudspeaker hears the far side as well, and the same
// words stand in the transcript twice: once from S, where they were said, and
// once from M, as if this side had said them. Such an entry on M is an echo.
//
// An entry is judged for good when it is confirmed, since it never changes
// afterwards: against what S has confirmed by then and against what S shows as
// unconfirmed. S hears its words first and shows them while they are said, so
// that its text is there when the echo's pause ends. If S falls so far behind
// that nothing of it is there yet, the entry on M stays unmarked: text that
// waits for a slow neighbour would be worse than text that is there twice.
const (
	echoWindow = 2.0 // seconds by which an echo's words may be away from the same words on S
	// echoLate is how long after the words on S an echo may begin. A person
	// who repeats what was said waits for its end; a loudspeaker does not.
	echoLate = 0.3
	// echoSlips is the part of an echo's words that may differ: the second
	// hearing is of a quieter and more hollow sound.
	echoSlips = 0.3
	// echoShort is the number of words below which all must be the same, and
	// at the same time: people on both sides say "yes".
	echoShort = 4
	echoClose = 0.5
	// echoDepth is how many entries are looked at for the far side's words.
	echoDepth = 64
)

// echoLocked tells whether an entry that is about to be shown or confirmed
// repeats the far side. A translation is an echo if what it translates is one.
func (s *session) echoLocked(seg *hearken.Segment) bool {
	if seg.Origin != hearken.Microphone || !seg.Spoken() {
		return false
	}
	var far []hearken.Segment
	recent := s.segments[max(0, len(s.segments)-echoDepth):]
	for i := range recent {
		old := &recent[i]
		if seg.Status == hearken.Translated && old.Echo && old.StartTime == seg.StartTime {
			return true
		}
		if old.Origin == hearken.System {
			far = append(far, *old)
		}
	}
	if shown, ok := s.interim[hearken.System]; ok {
		far = append(far, shown)
	}
	return seg.Status != hearken.Translated && isEcho(seg, far)
}

// A placed is a word with its place on the session's clock.
type placed struct {
	word       string
	start, end float64
}

// isEcho tells whether what the microphone heard are the far side's words, at
// the time when the far side said them.
func isEcho(near *hearken.Segment, far []hearken.Segment) bool {
	var said []placed
	for i := range far {
		f := &far[i]
		settled := f.Status == hearken.Confirmed || f.Status == hearken.Unconfirmed
		if settled && f.Spoken() && f.EndTime > near.StartTime-echoWindow && f.StartTime < near.EndTime+echoWindow {
			said = append(said, place(f)...)
		}
	}
	slices.SortStableFunc(said, func(a, b placed) int {
		switch {
		case a.start < b.start:
			return -1
		case a.start > b.start:
			return 1
		}
		return 0
	})
	heard := hearken.Terms(near.Text)
	slips, window := int(echoSlips*float64(len(heard))+0.5), echoWindow
	if len(heard) < echoShort {
		slips, window = 0, echoClose
	}
	return repeats(heard, said, slips, func(from, to placed) bool {
		away := near.StartTime - from.start
		return away <= window && away >= -window && near.StartTime < to.end+echoLate
	})
}

// place gives each term of an entry its time: that of its word, or else its
// share of the entry's.
func place(seg *hearken.Segment) []placed {
	var out []placed
	for _, w := range seg.Words {
		for _, term := range hearken.Terms(w.Word) {
			out = append(out, placed{term, w.StartTime, w.EndTime})
		}
	}
	if len(out) > 0 {
		return out
	}
	terms := hearken.Terms(seg.Text)
	share := (seg.EndTime - seg.StartTime) / float64(max(len(terms), 1))
	for i, term := range terms {
		at := seg.StartTime + float64(i)*share
		out = append(out, placed{term, at, at + share})
	}
	return out
}

// repeats tells whether words stand somewhere in said with at most so many
// words changed, added or left out, in a stretch that fits.
func repeats(words []string, said []placed, slips int, fits func(from, to placed) bool) bool {
	if len(words) == 0 || len(said) == 0 {
		return false
	}
	// edits[j] is what it takes to make a stretch of said that ends before j
	// of the words so far, and from[j] where that stretch begins.
	edits, from := make([]int, len(said)+1), make([]int, len(said)+1)
	for j := range from {
		from[j] = j
	}
	for i, word := range words {
		diagonal, begin := edits[0], from[0]
		edits[0] = i + 1
		for j := range said {
			best, start := diagonal, begin
			if !sounds(word, said[j].word) {
				best++
			}
			if edits[j+1]+1 < best {
				best, start = edits[j+1]+1, from[j+1] // the word was not said
			}
			if edits[j]+1 < best {
				best, start = edits[j]+1, from[j] // it was not heard
			}
			diagonal, begin = edits[j+1], from[j+1]
			edits[j+1], from[j+1] = best, start
		}
	}
	for j := 1; j <= len(said); j++ {
		if edits[j] <= slips && from[j] < j && fits(said[from[j]], said[j-1]) {
			return true
		}
	}
	return false
}

// sounds tells whether two words are the same but for a slip of the ear.
func sounds(a, b string) bool {
	if a == b {
		return true
	}
	x, y := []rune(a), []rune(b)
	longest := max(len(x), len(y))
	if longest < 4 {
		return false
	}
	return distance(x, y) <= longest/4
}

// distance is the number of characters to add, remove or change.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
