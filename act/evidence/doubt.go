package evidence

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/safetext"
)

// That words were said on this side does not mean that they were meant as a
// request. So a grant covers only what was asked for in one stretch of speech,
// in a language that the tables know, word for word and with its negations.
// Everything else costs a question.
const (
	// soon is how long before or after a stretch something may be said that
	// still turns its sense.
	soon = 5 * time.Second
	// mostNamed is how many words a doubt names.
	mostNamed = 3
)

// A judged is an argument whose words were found.
type judged struct {
	arg   *Arg
	forms []form
	shown hearken.Evidence
	own   []match // where the owner said as much of it as anywhere
	words []token // of a text: those that must have been said, numbers apart
	nums  []token
}

// spellOut finds what of a text must have been said.
func (j *judged) spellOut() {
	if j.arg.Kind != Text {
		return
	}
	all := tokens(contractions.Replace(strings.ToLower(j.arg.Value)))
	j.words = slices.DeleteFunc(content(all), func(t token) bool { return t.number() || courteous[t.exact] })
	j.nums = slices.DeleteFunc(all, func(t token) bool { return !t.number() })
}

// A weighed is what a stretch of speech leaves in doubt.
type weighed struct {
	doubts []string
	open   *spokenEntry // the last entry of which it is not yet known whose it is
}

// doubts tells why a grant does not cover an action of which the owner said
// every argument. It goes by the stretch that leaves the fewest.
func (r *conversation) doubts(q *Query, found []judged) weighed {
	for i := range found {
		found[i].spellOut()
	}
	best := weighed{doubts: []string{apart(found)}}
	tried := map[*spokenEntry]bool{}
	first := true
	for _, m := range found[0].own {
		for lo := max(0, m.last().at-maxSpread+1); lo <= m.entries[0].at; lo++ {
			w := r.stretch(m.entries[0].row, lo)
			if tried[w[0]] || w[len(w)-1].at < m.last().at {
				continue
			}
			tried[w[0]] = true
			parts, ok := inside(w, found)
			if !ok {
				continue
			}
			got := r.weigh(q, w, found, parts)
			if len(got.doubts) == 0 {
				return got
			}
			if first || len(got.doubts) < len(best.doubts) {
				best, first = got, false
			}
		}
	}
	return best
}

func (m *match) last() *spokenEntry { return m.entries[len(m.entries)-1] }

// stretch is the entries from lo on that are one utterance.
func (r *conversation) stretch(row, lo int) stream {
	st := r.near[row]
	end := lo + 1
	for end < min(lo+maxSpread, len(st)) && joined(st[end-1], st[end]) {
		end++
	}
	return st[lo:end]
}

// inside finds every argument in a stretch.
func inside(w stream, found []judged) ([]match, bool) {
	var out []match
	for i := range found {
		at := slices.IndexFunc(found[i].own, func(m match) bool {
			return m.entries[0].row == w[0].row && m.entries[0].at >= w[0].at && m.last().at <= w[len(w)-1].at
		})
		if at < 0 {
			return nil, false
		}
		out = append(out, found[i].own[at])
	}
	return out, true
}

// weigh looks at one stretch in which all arguments were said.
func (r *conversation) weigh(q *Query, w stream, found []judged, parts []match) weighed {
	var out weighed
	p := part{w: w}
	for i := range parts {
		p.take(&parts[i])
	}
	self := slices.ContainsFunc(found, func(j judged) bool { return j.arg.Kind == Address && slices.ContainsFunc(j.arg.Spoken, isMe) })
	in, calls := r.orders(q.Tool, &p, self)
	if len(in) == 0 {
		out.doubts = append(out.doubts, fmt.Sprintf("You said these words, but were not heard asking for %s.", thing[q.Tool]))
	}
	for i := range found {
		if found[i].arg.Kind == Text {
			out.doubts = append(out.doubts, unsaid(&found[i], w, in)...)
		}
	}
	if len(in) > 0 {
		out.doubts = append(out.doubts, p.turned(r, q, in, found)...)
	}
	if len(in) > 0 && q.Tool == hearken.MessageSend && !p.addressed(calls, found, parts) {
		out.doubts = append(out.doubts, "These words may have been meant for somebody else.")
	}
	if q.Repeats && !p.again(in) {
		out.doubts = append(out.doubts, "It will be repeated, and nobody was heard saying so.")
	}
	if w[p.to.entry].end().Before(q.Now.Add(-recent)) {
		out.doubts = append(out.doubts, "This was said more than ten minutes ago.")
	}
	for _, e := range w[p.from.entry : p.to.entry+1] {
		if e.open || e.of != nil && e.of.open {
			out.open = e
		}
	}
	if out.open != nil {
		out.doubts = append(out.doubts, "The other side's sound of that moment is not transcribed yet, so that it may be an echo.")
	}
	return out
}

// thing is what a tool makes.
var thing = map[string]string{
	hearken.MessageSend: "a message", hearken.CalendarCreate: "an appointment", hearken.ReminderCreate: "a reminder",
}

func isMe(name string) bool { return pronounsForMe[strings.ToLower(name)] }

// apart says that arguments were said, and not together.
func apart(found []judged) string {
	var names []string
	for i := range found {
		names = append(names, fmt.Sprintf("%q", found[i].arg.Name))
	}
	return fmt.Sprintf("The words for %s were said at different times, and not as one request.", strings.Join(names, " and "))
}

// orders finds the languages in which the stretch asks for the tool, and where.
// A word that the microphone only heard from the far side asks for nothing.
func (r *conversation) orders(tool string, p *part, self bool) (in []*grammar, calls []call) {
	for g := range grammars {
		before := len(calls)
		for i, e := range p.w {
			for j, s := range e.cutSentences() {
				for _, at := range grammars[g].orders(s, tool, self) {
					if r.around.echoes([]*spokenEntry{e}, stems(tokens(strings.Join(s[at[0]:at[1]], " "))), echoGap) {
						continue
					}
					calls = append(calls, call{&grammars[g], place{i, j}, at[0], at[1]})
					p.reach(place{i, j})
				}
			}
		}
		if len(calls) > before {
			in = append(in, &grammars[g])
		}
	}
	return in, calls
}

// unsaid tells which words of a text were not said in a stretch. Negations are
// counted elsewhere.
func unsaid(j *judged, w stream, in []*grammar) []string {
	var said []*token
	for _, e := range w {
		for i := range e.toks {
			said = append(said, &e.toks[i])
		}
	}
	var missing []string
	for _, t := range j.words {
		negates := slices.ContainsFunc(in, func(g *grammar) bool { return g.not[t.exact] })
		if !negates && !slices.ContainsFunc(said, func(s *token) bool { return sameSense(&t, s) }) {
			missing = append(missing, fmt.Sprintf("%q", safetext.Clip(t.exact, quoteRunes)))
		}
	}
	next := 0 // where the next number may be: they keep their order
	for _, t := range j.nums {
		at := slices.IndexFunc(said[next:], func(s *token) bool { return s.plain == t.plain })
		if at < 0 {
			missing = append(missing, fmt.Sprintf("%q", safetext.Clip(t.plain, quoteRunes)))
			continue
		}
		next += at + 1
	}
	if len(missing) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("Of %q this was not said, or not in this order: %s.", j.arg.Name, strings.Join(missing[:min(len(missing), mostNamed)], ", "))}
}

// sameSense tells whether two words are forms of one.
func sameSense(a, b *token) bool {
	x, y := a.stem, b.stem
	if x == y {
		return true
	}
	if x == "" || y == "" || a.number() || b.number() {
		return false
	}
	if isUnspaced(x) {
		// Of two characters the one that is no ending says what is meant.
		return isUnspaced(y) && core(x) != "" && strings.Contains(y, core(x)) && core(x) != x
	}
	if len(x) >= 4 && strings.Replace(y, "zu", "", 1) == x || len(y) >= 4 && strings.Replace(x, "zu", "", 1) == y {
		return true // "abzugeben" is "abgeben"
	}
	same := 0
	for same < min(len(x), len(y)) && x[same] == y[same] {
		same++
	}
	left := max(len(x), len(y)) - same
	return same >= 5 && left <= 2 || same == min(len(x), len(y)) && same >= 4 && left <= 3
}

// core is what of a pair of characters is not written in Hiragana.
func core(pair string) string {
	return strings.Map(func(r rune) rune {
		if filler(string(r)) {
			return -1
		}
		return r
	}, pair)
}
