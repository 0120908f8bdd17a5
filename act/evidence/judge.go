package evidence

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/safetext"
)

// Limits.
const (
	distinctWords = 4   // nobody says so many by chance
	maxEchoes     = 64  // matches that are compared with the other side's words
	quoteRunes    = 400 // of a quote that is shown
)

// judge finds the words of one argument and decides who said them.
func (r *conversation) judge(a *Arg) hearken.Evidence {
	all := forms(a)
	near, far := r.nearMatches(a, all), r.farMatches(all)
	var own []match
	for _, m := range near[:min(len(near), maxEchoes)] { // what is left out is nobody's
		if m.echo = r.around.echoes(m.entries, m.words, echoGap); m.echo {
			far = append(far, m)
		} else {
			own = append(own, m)
		}
	}
	far = best(far)
	if len(own) > 0 {
		if rest, ok := r.completed(all, &own[0]); ok {
			own, far = nil, append(far, rest)
		}
	}
	out := hearken.Evidence{}
	switch {
	case len(own) > 0 && ownersWords(a, all, own, far):
		out = r.evidence(hearken.Microphone, own[0])
		out.Overlap = slices.ContainsFunc(own[0].entries, r.overlapped)
	case len(far) > 0:
		out = r.evidence(hearken.System, far[0])
	}
	out.Arg = a.Name
	return out
}

// best returns the matches that are good enough, the best first: the most words,
// then the latest.
func best(all []match) []match {
	all = slices.DeleteFunc(all, func(m match) bool { return m.cover < floor })
	slices.SortStableFunc(all, func(a, b match) int {
		return cmp.Or(cmp.Compare(b.cover, a.cover), cmp.Compare(b.share, a.share), b.to.Compare(a.to))
	})
	return all
}

// nearMatches finds an argument in what this side said, best first. Names and
// addresses match only as a whole.
func (r *conversation) nearMatches(a *Arg, all []form) []match {
	var out []match
	for _, st := range r.near {
		row := flat{}
		if a.Kind == Address {
			row = st.flat()
		}
		for i := range all {
			f := &all[i]
			switch {
			case a.Kind == Text:
				out = append(out, st.spread(f, false)...)
			case f.phone:
				out = append(out, row.number(f.literal)...)
			case f.literal != "":
				out = append(out, row.address(f.literal)...)
			default:
				out = append(out, row.name(f.toks)...)
			}
		}
	}
	return best(out)
}

// farMatches finds an argument in what anybody else said, whole or in part.
func (r *conversation) farMatches(all []form) []match {
	var out []match
	for _, st := range r.far {
		for i := range all {
			f := &all[i]
			if f.literal != "" {
				out = append(out, st.hint(f)...)
			}
			if !f.phone {
				out = append(out, st.spread(f, true)...)
			}
		}
	}
	return out
}

// ownersWords decides whether words that both sides may have said are the
// owner's. Both lists are sorted, and own is not empty.
func ownersWords(a *Arg, all []form, own, far []match) bool {
	switch cover := own[0].cover; {
	case len(far) == 0 || cover > far[0].cover:
		return true
	case cover < far[0].cover || cover < 1:
		return false
	case a.Kind == Text && len(all[0].toks) >= distinctWords:
		return true
	}
	return slices.ContainsFunc(own, func(m match) bool {
		return m.cover == 1 && !slices.ContainsFunc(far, func(f match) bool {
			if m.literal {
				return f.literal && !f.from.After(m.from) // the other side said it first
			}
			return f.to.After(m.to) // the other side said it last
		})
	})
}

// completed finds where the other side said what the owner's match lacks. One
// word is enough: it may be the one that matters.
func (r *conversation) completed(all []form, m *match) (match, bool) {
	if m.cover == 1 {
		return match{}, false
	}
	for i := range all {
		for _, st := range r.far {
			for _, one := range st.spread(&all[i], true) {
				if slices.ContainsFunc(one.words, func(w string) bool { return !slices.Contains(m.words, w) }) {
					return one, true
				}
			}
		}
	}
	return match{}, false
}

// evidence returns a match as the owner sees it.
func (r *conversation) evidence(source hearken.Origin, m match) hearken.Evidence {
	main := slices.MaxFunc(m.entries, func(a, b *spokenEntry) int { return cmp.Compare(a.countWords(m.words), b.countWords(m.words)) })
	var quote []string
	for _, e := range m.entries {
		quote = append(quote, strings.TrimSpace(e.seg.Text))
	}
	return hearken.Evidence{
		Source:   source,
		Session:  main.session,
		Segment:  main.seg.ID,
		Line:     main.seg.Line,
		Start:    m.entries[0].seg.StartTime,
		End:      slices.MaxFunc(m.entries, func(a, b *spokenEntry) int { return cmp.Compare(a.seg.EndTime, b.seg.EndTime) }).seg.EndTime,
		At:       m.entries[0].begin().Format(time.RFC3339),
		Speaker:  main.seg.Speaker,
		Quote:    safetext.Clip(strings.Join(quote, " "), quoteRunes),
		Coverage: m.share,
		Echo:     m.echo,
		Claimed:  r.claims(m.entries),
	}
}

// countWords returns how many of the words an entry has.
func (s *spokenEntry) countWords(words []string) int {
	n := 0
	for i := range s.toks {
		if s.toks[i].plain != "" && slices.Contains(words, s.toks[i].stem) {
			n++
		}
	}
	return n
}

// claims reports whether the agent cites or quotes these entries.
func (r *conversation) claims(entries []*spokenEntry) bool {
	if slices.ContainsFunc(entries, func(e *spokenEntry) bool { return e.claimed }) {
		return true
	}
	return r.claim.Session == "" && len(r.claim.Segments) == 0 && len(r.quote) > 0 && r.quoted(entries)
}
