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
func (r *conversation) judge(a *Arg) judged {
	out := judged{arg: a, forms: forms(a)}
	near, far := r.nearMatches(a, out.forms), r.farMatches(a, out.forms)
	var own, old []match
	for i, m := range near {
		switch {
		case slices.ContainsFunc(m.entries, func(e *spokenEntry) bool { return e.old }):
			old = append(old, m)
		case i >= maxEchoes: // enough, and what is left out is nobody's
		case r.around.echoes(m.entries, m.words, echoGap):
			m.echo = true
			far = append(far, m)
		default:
			own = append(own, m)
		}
	}
	far = slices.DeleteFunc(far, func(m match) bool { return m.cover < floor })
	sortBest(own)
	sortBest(far)
	switch {
	case len(own) > 0 && r.ownersWords(a, out.forms, own, far):
		out.shown = r.evidence(hearken.Microphone, own[0])
		out.own = slices.DeleteFunc(own, func(m match) bool { return m.cover < own[0].cover })
	case len(far) > 0:
		out.shown = r.evidence(hearken.System, far[0])
	case len(own) > 0: // the far side said what the owner did not
		rest, _ := r.completed(out.forms, &own[0])
		out.shown = r.evidence(hearken.System, rest)
	case len(old) > 0:
		out.shown = r.evidence("", old[0])
	}
	out.shown.Arg = a.Name
	return out
}

// sortBest sorts the best match first: the most words, then the latest.
func sortBest(all []match) {
	slices.SortStableFunc(all, func(a, b match) int {
		return cmp.Or(cmp.Compare(b.cover, a.cover), b.to.Compare(a.to))
	})
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
				out = append(out, st.spread(f.toks, false)...)
			case f.phone:
				out = append(out, row.number(f.literal)...)
			case f.literal != "":
				out = append(out, row.address(f.literal)...)
			default:
				out = append(out, row.name(f.toks)...)
			}
		}
	}
	sortBest(out)
	return out
}

// farMatches finds an argument in what anybody else said, whole or in part.
func (r *conversation) farMatches(a *Arg, all []form) []match {
	var out []match
	for _, st := range r.far {
		for i := range all {
			f := &all[i]
			if f.literal != "" {
				out = append(out, st.hint(f)...)
			}
			if !f.phone {
				out = append(out, st.spread(f.toks, true)...)
			}
		}
	}
	for i := range out {
		out[i].echo = slices.ContainsFunc(out[i].entries, func(e *spokenEntry) bool { return e.echo })
	}
	return out
}

// ownersWords decides whether words that both sides may have said are the
// owner's. Both lists are sorted, and own is not empty.
func (r *conversation) ownersWords(a *Arg, all []form, own, far []match) bool {
	m := own[0]
	if len(far) == 0 || m.cover > far[0].cover {
		_, completed := r.completed(all, &m)
		return !completed
	}
	switch {
	case far[0].cover > m.cover, m.cover < 1:
		return false
	case a.Kind == Text && len(all[0].toks) >= distinctWords:
		return true
	}
	whole := slices.DeleteFunc(slices.Clone(far), func(f match) bool { return f.cover < 1 })
	for _, m := range own {
		if m.cover < 1 {
			break
		}
		if m.literal && !slices.ContainsFunc(whole, func(f match) bool { return f.literal && !f.from.After(first(own)) }) {
			return true // said by the owner first
		}
		if !m.literal && !slices.ContainsFunc(whole, func(f match) bool { return f.to.After(m.to) }) {
			return true // said by the owner last
		}
	}
	return false
}

// first returns when the owner first said an address.
func first(own []match) time.Time {
	var at time.Time
	for _, m := range own {
		if m.literal && (at.IsZero() || m.from.Before(at)) {
			at = m.from
		}
	}
	return at
}

// completed finds where the other side said what the owner's match lacks. One
// word is enough: it may be the one that matters.
func (r *conversation) completed(all []form, m *match) (match, bool) {
	if m.cover == 1 {
		return match{}, false
	}
	for i := range all {
		for _, t := range all[i].toks {
			if slices.Contains(m.words, t.stem) || courteous[t.exact] {
				continue
			}
			for _, st := range append(slices.Clone(r.far), r.shown) {
				for j, e := range st {
					if slices.ContainsFunc(e.toks, func(s token) bool { return s.far == t.far && t.far != "" }) {
						one := match{entries: st[j : j+1], words: []string{t.stem}, cover: 1 / float64(len(all[i].toks))}
						one.echo = e.echo
						return one, true
					}
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
		End:      m.entries[len(m.entries)-1].seg.EndTime,
		At:       m.entries[0].begin().Format(time.RFC3339),
		Speaker:  main.seg.Speaker,
		Quote:    safetext.Clip(strings.Join(quote, " "), quoteRunes),
		Coverage: m.cover,
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
	return r.claim != nil && r.claim.Session == "" && len(r.claim.Segments) == 0 && len(plain(r.quote)) > 0 && r.quoted(entries)
}
