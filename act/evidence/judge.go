package evidence

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
)

// Bounds of what is looked at and shown.
const (
	distinct   = 4   // words of which nobody says all by chance
	mostEchoes = 64  // candidates that are held against the far side's words
	quoteRunes = 400 // of what is shown
)

// judge finds the words of one argument and decides whose they are.
func (r *room) judge(a *Arg) judged {
	out := judged{arg: a, forms: forms(a)}
	near, far := r.nearMatches(a, out.forms), r.farMatches(a, out.forms)
	var own, old []match
	for i, m := range near {
		switch {
		case slices.ContainsFunc(m.entries, func(e *said) bool { return e.old }):
			old = append(old, m)
		case i >= mostEchoes: // enough, and what is left out is nobody's
		case r.around.echoes(m.entries, m.words, echoGap):
			m.echo = true
			far = append(far, m)
		default:
			own = append(own, m)
		}
	}
	far = slices.DeleteFunc(far, func(m match) bool { return m.cover < floor })
	best(own)
	best(far)
	switch {
	case len(own) > 0 && r.owners(a, out.forms, own, far):
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

// best puts the best match first: the most words, then the latest.
func best(all []match) {
	slices.SortStableFunc(all, func(a, b match) int {
		return cmp.Or(cmp.Compare(b.cover, a.cover), b.to.Compare(a.to))
	})
}

// nearMatches finds an argument in what this side said, best first. Of names
// and addresses it takes nothing but the whole.
func (r *room) nearMatches(a *Arg, all []form) []match {
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
	best(out)
	return out
}

// farMatches finds an argument in what anybody else said, whole or in part.
func (r *room) farMatches(a *Arg, all []form) []match {
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
		out[i].echo = slices.ContainsFunc(out[i].entries, func(e *said) bool { return e.echo })
	}
	return out
}

// owners decides whether words that both sides may have said are the owner's.
// Both lists have their best first, and own is not empty.
func (r *room) owners(a *Arg, all []form, own, far []match) bool {
	m := own[0]
	if len(far) == 0 || m.cover > far[0].cover {
		_, completed := r.completed(all, &m)
		return !completed
	}
	switch {
	case far[0].cover > m.cover, m.cover < 1:
		return false
	case a.Kind == Text && len(all[0].toks) >= distinct:
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

// first is when the owner first said an address.
func first(own []match) time.Time {
	var at time.Time
	for _, m := range own {
		if m.literal && (at.IsZero() || m.from.Before(at)) {
			at = m.from
		}
	}
	return at
}

// completed finds where the far side said what a match of the owner lacks. One
// word is enough: it may be the one that matters.
func (r *room) completed(all []form, m *match) (match, bool) {
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

// evidence is a match as the owner sees it.
func (r *room) evidence(source hearken.Origin, m match) hearken.Evidence {
	main := slices.MaxFunc(m.entries, func(a, b *said) int { return cmp.Compare(a.has(m.words), b.has(m.words)) })
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
		Quote:    short(strings.Join(quote, " ")),
		Coverage: m.cover,
		Echo:     m.echo,
		Claimed:  r.claims(m.entries),
	}
}

// has is how many of words an entry has.
func (s *said) has(words []string) int {
	n := 0
	for i := range s.toks {
		if s.toks[i].plain != "" && slices.Contains(words, s.toks[i].stem) {
			n++
		}
	}
	return n
}

// claims reports whether the agent named these entries, or quotes them.
func (r *room) claims(entries []*said) bool {
	if slices.ContainsFunc(entries, func(e *said) bool { return e.claimed }) {
		return true
	}
	return r.claim != nil && r.claim.Session == "" && len(r.claim.Segments) == 0 && len(plain(r.quote)) > 0 && r.quoted(entries)
}

// short cuts a quote that is far too long to show.
func short(s string) string {
	if r := []rune(s); len(r) > quoteRunes {
		return string(r[:quoteRunes]) + "…"
	}
	return s
}
