package evidence

import (
	"slices"
	"sort"
	"time"

	"github.com/hearken-dev/hearken/editdistance"
)

// A microphone beside a loudspeaker picks up the other side, and somebody who
// plays commands into a call hopes for just that. The hub marks echoes when it
// confirms entries, with what it knows at that moment. Here more is known, and
// a wrongly assumed echo costs little.
const (
	echoWindow = 2 * time.Second // the longest time between an echo and its source
	// echoPart is the share of the words that the other side must have said.
	echoPart = 0.8
	// echoOver is enough of them if the other side spoke at the same time: the
	// echo is hard to transcribe, and the owner may talk into it.
	echoOver = 0.4
	// echoFew is the number of words below which all must be at the same time:
	// people answer with the name that they were asked about.
	echoFew   = 4
	echoClose = time.Second
	// echoGap is how long after the other side's entry one of this side with a
	// short echo may begin, if no better times are known.
	echoGap = 500 * time.Millisecond
	// echoDelay is how late a loudspeaker may be. People who take turns overlap
	// by less.
	echoDelay = 300 * time.Millisecond
)

// findEchoes moves echoes of the other side from near to far.
func (r *conversation) findEchoes() {
	r.around = r.farAround()
	for i, st := range r.near {
		var near, echoes stream
		for _, e := range st {
			// Words that are translated are judged before their translation.
			e.echo = e.echo || e.of != nil && e.of.echo || r.around.echoes([]*spokenEntry{e}, stems(e.toks), echoClose)
			if e.echo {
				echoes = append(echoes, e)
			} else {
				near = append(near, e)
			}
		}
		r.near[i], r.far = near, append(r.far, echoes)
	}
}

// overlapped reports whether the other side spoke while e was heard, or may
// have. Then e may be an echo, even if its words differ: those of an echo are
// easily misheard.
func (r *conversation) overlapped(e *spokenEntry) bool {
	if e.open {
		return true
	}
	for _, f := range r.around.near(e) {
		both := earlier(e.end(), f.end().Add(echoDelay)).Sub(later(e.begin(), f.begin()))
		if f.here && both > min(echoDelay, e.end().Sub(e.begin())/2) {
			return true
		}
	}
	return false
}

// around holds what the other side said, by start time.
type around struct {
	entries []*spokenEntry
	longest time.Duration
}

func (r *conversation) farAround() *around {
	a := &around{}
	for _, st := range r.far {
		a.entries = append(a.entries, st...)
	}
	slices.SortStableFunc(a.entries, func(x, y *spokenEntry) int { return x.begin().Compare(y.begin()) })
	for _, e := range a.entries {
		a.longest = max(a.longest, e.end().Sub(e.begin()))
	}
	return a
}

// near returns what the other side said around an entry.
func (a *around) near(e *spokenEntry) []*spokenEntry {
	from, to := e.begin().Add(-echoWindow), e.end().Add(echoWindow)
	first := sort.Search(len(a.entries), func(i int) bool { return !a.entries[i].begin().Before(from.Add(-a.longest)) })
	var out []*spokenEntry
	for _, f := range a.entries[first:] {
		if f.begin().After(to) {
			break
		}
		if !f.end().Before(from) {
			out = append(out, f)
		}
	}
	return out
}

// echoes reports whether words in entries of this side are the other side's,
// said at the same time. A few words must be closer to them than gap.
func (a *around) echoes(entries []*spokenEntry, words []string, gap time.Duration) bool {
	if len(words) == 0 {
		return false
	}
	wanted := map[string]bool{} // true once heard from the far side
	for _, w := range words {
		wanted[w] = false
	}
	window, few := echoWindow, len(wanted) < echoFew
	if few {
		window = echoClose
	}
	var over, length time.Duration
	for _, e := range entries {
		length += e.end().Sub(e.begin())
		var open []*token // not yet heard from the far side
		for i := range e.toks {
			if heard, ok := wanted[e.toks[i].stem]; ok && !heard {
				open = append(open, &e.toks[i])
			}
		}
		for _, f := range a.near(e) {
			both := earlier(e.end(), f.end()).Sub(later(e.begin(), f.begin()))
			over += max(0, both)
			if few && both < -gap && !(e.timed && f.timed) {
				continue
			}
			open = slices.DeleteFunc(open, func(t *token) bool {
				says := f.says(e, t, window)
				if says {
					wanted[t.stem] = true
				}
				return says
			})
		}
	}
	n := 0
	for _, heard := range wanted {
		if heard {
			n++
		}
	}
	part := float64(n) / float64(len(wanted))
	return part >= echoPart || part >= echoOver && over > 0 && over >= length/2
}

// says reports whether an entry of the other side has a word of e, at the same
// time if times are known.
func (s *spokenEntry) says(e *spokenEntry, t *token, window time.Duration) bool {
	timed := s.timed && e.timed
	var at time.Time
	if timed {
		at = e.wall(t.at)
	}
	for i := range s.toks {
		own := &s.toks[i]
		if (t.loose == own.loose || soundsAlike(t.loose, own.loose)) && (!timed || s.wall(own.at).Sub(at).Abs() <= window) {
			return true
		}
	}
	return false
}

// soundsAlike reports whether an engine may have heard one word as the other: up
// to a quarter of the letters differ.
func soundsAlike(a, b string) bool {
	longest := max(len(a), len(b))
	limit := longest / 4
	if limit == 0 || longest-min(len(a), len(b)) > limit || longest > 64 {
		return false
	}
	return editdistance.Within([]byte(a), []byte(b), limit)
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
