package evidence

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/hearken-dev/hearken"
)

// A phrase is one of a tongue's, cut into words.
type phrase []string

// A grammar is a tongue made ready for use.
type grammar struct {
	asks                 map[string][]phrase
	polite               []phrase
	mine, not, doubt, no map[string]bool
	opens                map[string]bool
	back, again          []phrase
	pieces, conditions   []string // negations and conditions of scripts without spaces
}

var grammars = func() []grammar {
	var out []grammar
	for _, t := range tongues {
		g := grammar{asks: map[string][]phrase{}, mine: set(t.mine), opens: set(t.opens), not: set(t.not), doubt: set(t.doubt), no: set(t.no)}
		for tool, all := range t.asks {
			for _, s := range all {
				g.asks[tool] = append(g.asks[tool], strings.Fields(s))
			}
		}
		for _, s := range t.polite {
			g.polite = append(g.polite, strings.Fields(s))
		}
		for w := range strings.FieldsSeq(t.back) {
			g.back = append(g.back, phrase{w})
		}
		for w := range strings.FieldsSeq(t.again) {
			g.again = append(g.again, phrase{w})
		}
		for w := range strings.FieldsSeq(t.not) {
			if isUnspaced(w) {
				g.pieces = append(g.pieces, w)
			}
		}
		for w := range strings.FieldsSeq(t.doubt) {
			if isUnspaced(w) {
				g.conditions = append(g.conditions, w)
			}
		}
		out = append(out, g)
	}
	return out
}()

// tells are those of all tongues: many a word is one in several.
var tells = func() map[string]bool {
	var all []string
	for _, t := range tongues {
		all = append(all, t.tells)
	}
	return set(strings.Join(all, " "))
}()

var courteous = set(courtesies)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

func isUnspaced(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unspaced(r)
}

// contractions are written out, so that "don't" is a "not".
var contractions = strings.NewReplacer("won't", "will not", "won’t", "will not", "can't", "can not", "can’t", "can not", "n't", " not", "n’t", " not", "'ll", " will", "’ll", " will", "'d ", " would ", "’d ", " would ", "let's", "let us", "let’s", "let us")

// A sentence is one as the tables are held against it: its words in lower
// case, with commas as words of their own and "?" at the end of a question.
type sentence []string

// sentences cuts a text.
func sentences(text string) []sentence {
	var out []sentence
	var now sentence
	var run []rune
	word := func() {
		if len(run) > 0 {
			now = append(now, string(run))
			run = run[:0]
		}
	}
	all := []rune(contractions.Replace(strings.ToLower(norm.NFKC.String(text))))
	for i, r := range all {
		switch {
		case unicode.IsLetter(r), unicode.IsMark(r), unicode.IsNumber(r), r == 'ー':
			run = append(run, r)
		case r == '.' && i+1 < len(all) && !unicode.IsSpace(all[i+1]):
			word() // of a number or an address
		case strings.ContainsRune(".!?。", r):
			word()
			if len(now) > 0 && r == '?' {
				now = append(now, "?")
			}
			if len(now) > 0 {
				out, now = append(out, now), nil
			}
		default:
			word()
			if strings.ContainsRune(",;:、", r) && len(now) > 0 && now[len(now)-1] != "," {
				now = append(now, ",")
			}
		}
	}
	word()
	if len(now) > 0 {
		out = append(out, now)
	}
	return out
}

// gap is how many words "…" stands for at most.
const gap = 12

// at tells where a phrase ends that begins at word i, or 0.
func (p phrase) at(words []string, i int) int {
	for n, part := range p {
		switch {
		case part == "…":
			for j := i; j < min(i+gap, len(words)); j++ {
				if end := p[n+1:].at(words, j); end > 0 {
					return end
				}
			}
			return 0
		case i >= len(words) || !sameWord(part, words[i]):
			return 0
		}
		i++
	}
	return i
}

func sameWord(part, word string) bool {
	if isUnspaced(part) {
		return strings.Contains(word, part)
	}
	if stem, ok := strings.CutSuffix(part, "*"); ok {
		return strings.HasPrefix(word, stem)
	}
	return part == word
}

// orders finds where a sentence asks for a tool: where the phrases begin and
// end. A question does so only if it is a polite one. Self says that what is
// asked for is meant for whoever speaks.
func (g *grammar) orders(s sentence, tool string, self bool) (out [][2]int) {
	if s[len(s)-1] == "?" && !s.hasAny(g.polite) {
		return nil
	}
	for i := range s {
		for _, p := range g.asks[tool] {
			end := p.at(s, i)
			if end == 0 || len(p) == 1 && i > 0 && tells[s[i-1]] && !g.politely(s[:i]) {
				continue
			}
			if tool == hearken.MessageSend && len(p) == 1 && !self && end < len(s) && g.mine[s[end]] {
				continue
			}
			out = append(out, [2]int{i, end})
		}
	}
	return out
}

// hasAny reports whether one of the phrases stands in the sentence.
func (s sentence) hasAny(all []phrase) bool {
	for i := range s {
		if slices.ContainsFunc(all, func(p phrase) bool { return p.at(s, i) > 0 }) {
			return true
		}
	}
	return false
}

// politely reports whether words end with one of the polite phrases.
func (g *grammar) politely(words []string) bool {
	return slices.ContainsFunc(g.polite, func(p phrase) bool {
		return len(words) >= len(p) && slices.Equal(words[len(words)-len(p):], p)
	})
}

// A sense is what turns the meaning of words: how often they are negated, and
// how often they are only imagined.
type sense struct{ not, doubt int }

// sense counts what is left when orders and politeness are taken away. An
// answer such as "No." is no negation unless answers count.
func (s sentence) sense(in []*grammar, tool string, answers bool) sense {
	var out sense
	for i := 0; i < len(s); {
		if end := passed(in, s, i, tool); end > i {
			i = end
			continue
		}
		w := s[i]
		alone := (i == 0 || s[i-1] == ",") && (i+1 == len(s) || s[i+1] == "," || s[i+1] == "?")
		var not, doubt bool
		for _, g := range in {
			not = not || g.not[w] && (answers || !alone || !g.no[w])
			doubt = doubt || g.doubt[w]
			if isUnspaced(w) {
				rest := w
				for _, p := range g.asks[tool] {
					rest = strings.ReplaceAll(rest, p[0], "")
				}
				out.not += pieces(rest, g.pieces)
				out.doubt += pieces(rest, g.conditions)
			}
		}
		if not {
			out.not++
		}
		if doubt {
			out.doubt++
		}
		i++
	}
	return out
}

// passed tells where an order or a polite phrase ends that begins at i.
func passed(in []*grammar, s sentence, i int, tool string) int {
	end := 0
	for _, g := range in {
		for _, p := range slices.Concat(g.asks[tool], g.polite) {
			if len(p) > 1 && !slices.Contains(p, "…") {
				end = max(end, p.at(s, i))
			}
		}
	}
	return end
}

func pieces(word string, all []string) int {
	n := 0
	for _, p := range all {
		n += strings.Count(word, p)
	}
	return n
}

func (a sense) plus(b sense) sense { return sense{a.not + b.not, a.doubt + b.doubt} }
