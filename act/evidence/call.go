package evidence

import (
	"slices"
	"strings"
)

// A call is a place that asks for something.
type call struct {
	g        *grammar
	at       place
	from, to int // its words in the sentence
}

// nearBy is how many words may stand between an order and who it is about:
// "manda uma mensagem para o João".
const nearBy = 4

// addressed reports whether one of the calls names the recipient, before it
// says what to tell, and whether all of the text follows that name before the
// next call. So "tell Bob that Anna owes us money" is nothing for Anna.
func (p *part) addressed(calls []call, found []judged, parts []match) bool {
	var to *match
	var texts []*judged
	for i := range found {
		if found[i].arg.Kind == Address {
			to = &parts[i]
		} else {
			texts = append(texts, &found[i])
		}
	}
	if to == nil {
		return true
	}
	return slices.ContainsFunc(calls, func(c call) bool {
		words := p.after(c)
		if isUnspaced(words[0]) {
			return true // the verb comes last
		}
		return c.names(words, to, texts, p.nextCall(calls, c))
	})
}

// after is all that the stretch says from a call on.
func (p *part) after(c call) []string {
	words := slices.Clone(p.w[c.at.entry].cutSentences()[c.at.sentence][c.from:])
	for i := c.at.entry; i < len(p.w); i++ {
		for j, s := range p.w[i].cutSentences() {
			if c.at.before(place{i, j}) {
				words = append(append(words, "."), s...)
			}
		}
	}
	return words
}

// nextCall is how many words after a call the next one of its language begins
// in the same sentence; there is none if it is negative.
func (p *part) nextCall(calls []call, c call) int {
	next := -1
	for _, other := range calls {
		if other.at == c.at && other.from >= c.to && (next < 0 || other.from-c.from < next) {
			next = other.from - c.from
		}
	}
	return next
}

// names reports whether the recipient stands right behind the order, and the
// texts behind the recipient.
func (c call) names(words []string, to *match, texts []*judged, next int) bool {
	between := 0
	name := -1
	for i := 1; i < len(words) && name < 0; i++ {
		w := words[i]
		switch {
		case slices.ContainsFunc(tokens(w), func(t token) bool { return slices.Contains(to.words, t.stem) }):
			name = i
		case c.g.opens[w] || between >= nearBy && i >= c.to-c.from:
			return false
		case w != ",":
			between++
		}
	}
	if name < 0 {
		return false
	}
	rest := words[name:]
	if next > name && !inTexts(words[next], texts) {
		rest = words[name:next]
	}
	said := tokens(strings.Join(rest, " "))
	for _, j := range texts {
		for _, t := range j.words {
			negates := c.g.not[t.exact]
			if !negates && !slices.ContainsFunc(said, func(s token) bool { return sameSense(&t, &s) }) {
				return false
			}
		}
	}
	return true
}

// inTexts reports whether a word is one of the texts: "tell Bob that I will send
// it" holds no second order.
func inTexts(word string, texts []*judged) bool {
	for _, s := range tokens(word) {
		for _, j := range texts {
			if slices.ContainsFunc(j.words, func(t token) bool { return sameSense(&t, &s) }) {
				return true
			}
		}
	}
	return false
}
