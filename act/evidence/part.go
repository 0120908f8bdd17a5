package evidence

import (
	"slices"
	"strings"
)

// A place is a sentence of an entry of a stretch.
type place struct{ entry, sentence int }

func (a place) before(b place) bool {
	return a.entry < b.entry || a.entry == b.entry && a.sentence < b.sentence
}

// A part is the sentences of a stretch that an action is about.
type part struct {
	w        stream
	from, to place
	any      bool
}

// cutSentences are the sentences of an entry.
func (s *spokenEntry) cutSentences() []sentence {
	if s.cutText == nil {
		s.cutText = sentences(s.seg.Text)
		for _, words := range s.cutText {
			s.cutStems = append(s.cutStems, stems(tokens(strings.Join(words, " "))))
		}
	}
	return s.cutText
}

// reach has the part go as far as a place.
func (p *part) reach(at place) {
	if !p.any || at.before(p.from) {
		p.from = at
	}
	if !p.any || p.to.before(at) {
		p.to = at
	}
	p.any = true
}

// take has the part go over the sentences in which an argument was said.
func (p *part) take(m *match) {
	for i, e := range p.w {
		if !slices.Contains(m.entries, e) {
			continue
		}
		all := e.cutSentences()
		found := false
		for j := range all {
			if slices.ContainsFunc(e.cutStems[j], func(s string) bool { return slices.Contains(m.words, s) }) {
				found = true
				p.reach(place{i, j})
			}
		}
		if !found && len(all) > 0 { // numbers of several words
			p.reach(place{i, 0})
			p.reach(place{i, len(all) - 1})
		}
	}
}

// turned tells whether a negation or a condition was said that the arguments
// do not have, or the other way round.
func (p *part) turned(r *conversation, q *Query, in []*grammar, found []judged) []string {
	var heard, short, long sense
	for i := p.from.entry; i <= p.to.entry; i++ {
		for j, s := range p.w[i].cutSentences() {
			if at := (place{i, j}); !at.before(p.from) && !p.to.before(at) {
				heard = heard.plus(s.sense(in, q.Tool, false))
			}
		}
	}
	for i := range found {
		if found[i].arg.Kind != Text {
			continue
		}
		for _, s := range sentences(found[i].arg.Value) {
			short = short.plus(s.sense(in, q.Tool, false))
			long = long.plus(s.sense(in, q.Tool, true))
		}
	}
	heard = heard.plus(p.lead(r, q, in))
	var out []string
	if heard.not != short.not && heard.not != long.not {
		out = append(out, "What was said and what will be done are not negated alike.")
	}
	if heard.doubt != short.doubt {
		out = append(out, "What was said has an if, a would or an only that what will be done has not, or the other way round.")
	}
	if p.takenBack(r, q, in) {
		out = append(out, "What was said right afterwards may have taken it back.")
	}
	return out
}

// edge is how many words at the edge of a sentence belong to its neighbour,
// where an engine ends a sentence at every pause.
const edge = 3

// lead is what the entry before may turn: "I would never." and then "Tell
// Anna".
func (p *part) lead(r *conversation, q *Query, in []*grammar) sense {
	e := p.w[p.from.entry]
	st := r.near[e.row]
	if p.from.sentence > 0 || e.at == 0 {
		return sense{}
	}
	before := st[e.at-1]
	all := before.cutSentences()
	if !joined(before, e) || e.begin().Sub(before.end()) > soon || len(all) == 0 {
		return sense{}
	}
	last := all[len(all)-1]
	out := last.sense(in, q.Tool, false)
	if len(last) > edge && out.not > 0 {
		out.not = last[len(last)-edge:].sense(in, q.Tool, false).not
	}
	return out
}

// takenBack reports whether the next sentence begins with a negation, or with
// a word that does the same.
func (p *part) takenBack(r *conversation, q *Query, in []*grammar) bool {
	e := p.w[p.to.entry]
	all := e.cutSentences()
	all = all[min(p.to.sentence+1, len(all)):]
	if st := r.near[e.row]; len(all) == 0 && e.at+1 < len(st) {
		if next := st[e.at+1]; next.begin().Sub(e.end()) <= soon {
			all = next.cutSentences()
		}
	}
	if len(all) == 0 {
		return false
	}
	begins := all[0][:min(edge, len(all[0]))]
	return begins.sense(in, q.Tool, true).not > 0 || slices.ContainsFunc(in, func(g *grammar) bool { return begins.hasAny(g.back) })
}

// again reports whether the part says that something is to be repeated.
func (p *part) again(in []*grammar) bool {
	for i := p.from.entry; i <= p.to.entry; i++ {
		for _, s := range p.w[i].cutSentences() {
			if slices.ContainsFunc(in, func(g *grammar) bool { return s.hasAny(g.again) }) {
				return true
			}
		}
	}
	return false
}
