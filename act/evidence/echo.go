package evidence

import (
	"slices"
	"sort"
	"time"
)

// A microphone beside a loudspeaker hears the far side, and somebody who plays
// commands into a call hopes for just that. The hub marks echoes when it
// confirms them, with what it knows at that moment; here everything is known,
// and what is wrongly taken for an echo costs only a question.
const (
	echoWindow = 2 * time.Second // by which an echo may be away from its source
	// echoPart is the part of the words that the far side must have said too.
	echoPart = 0.8
	// echoOver is enough of them where the far side spoke at the same time:
	// the second hearing is of a hollow sound, and the owner may talk into it.
	echoOver = 0.4
	// echoFew is the number of words below which all must be at the same time:
	// people answer with the name that they were asked about.
	echoFew   = 4
	echoClose = time.Second
	// echoGap is how long after the far side's entry one of this side may begin
	// that has an echo of few words in it, where no better times are known.
	echoGap = 500 * time.Millisecond
)

// findEchoes takes from this side what it only heard from the other.
func (r *room) findEchoes() {
	r.around = r.farAround()
	var kept []stream
	for _, st := range r.near {
		var near, echoes stream
		for _, e := range st {
			// Words that are translated are judged before their translation.
			e.echo = e.echo || e.of != nil && e.of.echo || r.around.echoes([]*said{e}, stems(e.toks), echoClose)
			if e.echo {
				echoes = append(echoes, e)
			} else {
				near = append(near, e)
			}
		}
		if len(near) > 0 {
			kept = append(kept, near)
		}
		if len(echoes) > 0 {
			r.far = append(r.far, echoes)
		}
	}
	r.near = kept
	for row, st := range kept {
		for at, e := range st {
			e.row, e.at = row, at
		}
	}
}

// around is what the far side said, by when it began.
type around struct {
	entries []*said
	longest time.Duration
}

func (r *room) farAround() *around {
	a := &around{entries: slices.Clone(r.shown)}
	for _, st := range r.far {
		a.entries = append(a.entries, st...)
	}
	slices.SortStableFunc(a.entries, func(x, y *said) int { return x.begin().Compare(y.begin()) })
	for _, e := range a.entries {
		a.longest = max(a.longest, e.end().Sub(e.begin()))
	}
	return a
}

// near lists what the far side said around an entry.
func (a *around) near(e *said) []*said {
	from, to := e.begin().Add(-echoWindow), e.end().Add(echoWindow)
	first := sort.Search(len(a.entries), func(i int) bool { return !a.entries[i].begin().Before(from.Add(-a.longest)) })
	var out []*said
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

// echoes tells whether words that stand in entries of this side are the far
// side's, said at the same time. Few words must be nearer to them than gap.
func (a *around) echoes(entries []*said, words []string, gap time.Duration) bool {
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

// says tells whether an entry of the far side has a word of e, at the same
// time where times are known.
func (s *said) says(e *said, t *token, window time.Duration) bool {
	timed := s.timed && e.timed
	var at time.Time
	if timed {
		at = e.wall(t.at)
	}
	for i := range s.toks {
		own := &s.toks[i]
		if (t.loose == own.loose || alikeSound(t.loose, own.loose)) && (!timed || s.wall(own.at).Sub(at).Abs() <= window) {
			return true
		}
	}
	return false
}

// alikeSound tells whether two words are the same but for a slip of the ear.
func alikeSound(a, b string) bool {
	longest := max(len(a), len(b))
	slips := longest / 4
	if slips == 0 || longest-min(len(a), len(b)) > slips || longest > 64 {
		return false
	}
	var row [65]int
	for j := range len(b) + 1 {
		row[j] = j
	}
	for i := range len(a) {
		diagonal, best := row[0], i+1
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
			best = min(best, row[j+1])
		}
		if best > slips {
			return false
		}
	}
	return row[len(b)] <= slips
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
