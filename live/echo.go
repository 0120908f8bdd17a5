package live

import (
	"cmp"
	"slices"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/editdistance"
)

// A microphone beside a loudspeaker picks up the far side too. The same words
// then appear twice: from S (System), where they were said, and from M
// (Microphone), as if this side had said them. Such an entry on M is an echo.
//
// An entry is judged when it is confirmed, since it never changes afterwards.
// It is compared with what S has confirmed by then and with what S shows as
// unconfirmed. S gets its words first and shows them while they are said, so
// its text is usually there when the echo ends. If S is so far behind that it
// has no text yet, the entry on M stays unmarked: delaying text for a slow
// channel would be worse than showing it twice.
const (
	echoWindow = 2.0 // seconds that an echo's words may be away from the same words on S
	// echoLate is how long after the words on S an echo may begin. A person who
	// repeats something waits for its end; a loudspeaker does not.
	echoLate = 0.3
	// echoErrorRate is the share of an echo's words that may differ. The
	// microphone gets a quieter and hollower version.
	echoErrorRate = 0.3
	// Entries shorter than echoShort words must be equal and at the same time,
	// within echoClose: people on both sides say "yes".
	echoShort = 4
	echoClose = 0.5
	// echoDepth is how many recent entries are searched for the far side's
	// words.
	echoDepth = 64
)

// echoLocked reports whether an entry repeats the far side. A translation is an
// echo if the entry it translates is one.
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

// A timedWord is a word with its position on the session's clock.
type timedWord struct {
	word       string
	start, end float64
}

// isEcho reports whether the words of near are those that the far side said at
// the same time.
func isEcho(near *hearken.Segment, far []hearken.Segment) bool {
	var said []timedWord
	for i := range far {
		f := &far[i]
		settled := f.Status == hearken.Confirmed || f.Status == hearken.Unconfirmed
		if settled && f.Spoken() && f.EndTime > near.StartTime-echoWindow && f.StartTime < near.EndTime+echoWindow {
			said = append(said, timedWords(f)...)
		}
	}
	slices.SortStableFunc(said, func(a, b timedWord) int { return cmp.Compare(a.start, b.start) })
	words := hearken.Terms(near.Text)
	maxEdits, window := int(echoErrorRate*float64(len(words))+0.5), echoWindow
	if len(words) < echoShort {
		maxEdits, window = 0, echoClose
	}
	return containsWithEdits(words, said, maxEdits, func(from, to timedWord) bool {
		away := near.StartTime - from.start
		return away <= window && away >= -window && near.StartTime < to.end+echoLate
	})
}

// timedWords gives each term of an entry the time of its word, or its share of
// the entry's time.
func timedWords(seg *hearken.Segment) []timedWord {
	var out []timedWord
	for _, w := range seg.Words {
		for _, term := range hearken.Terms(w.Word) {
			out = append(out, timedWord{term, w.StartTime, w.EndTime})
		}
	}
	if len(out) > 0 {
		return out
	}
	terms := hearken.Terms(seg.Text)
	share := (seg.EndTime - seg.StartTime) / float64(max(len(terms), 1))
	for i, term := range terms {
		at := seg.StartTime + float64(i)*share
		out = append(out, timedWord{term, at, at + share})
	}
	return out
}

// containsWithEdits reports whether said contains words, with at most maxEdits
// words changed, added or missing, at a position that fits.
func containsWithEdits(words []string, said []timedWord, maxEdits int, fits func(from, to timedWord) bool) bool {
	if len(words) == 0 || len(said) == 0 {
		return false
	}
	// edits[j] is the cost of matching the words so far with a part of said
	// that ends before j; from[j] is where that part begins.
	edits, from := make([]int, len(said)+1), make([]int, len(said)+1)
	for j := range from {
		from[j] = j
	}
	for i, word := range words {
		diagonal, begin := edits[0], from[0]
		edits[0] = i + 1
		for j := range said {
			best, start := diagonal, begin
			if !similar(word, said[j].word) {
				best++
			}
			if edits[j+1]+1 < best {
				best, start = edits[j+1]+1, from[j+1] // only in words
			}
			if edits[j]+1 < best {
				best, start = edits[j]+1, from[j] // only in said
			}
			diagonal, begin = edits[j+1], from[j+1]
			edits[j+1], from[j+1] = best, start
		}
	}
	for j := 1; j <= len(said); j++ {
		if edits[j] <= maxEdits && from[j] < j && fits(said[from[j]], said[j-1]) {
			return true
		}
	}
	return false
}

// similar reports whether two words are equal or nearly so.
func similar(a, b string) bool {
	if a == b {
		return true
	}
	x, y := []rune(a), []rune(b)
	longest := max(len(x), len(y))
	if longest < 4 {
		return false
	}
	return editdistance.Levenshtein(x, y) <= longest/4
}
