package evidence

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// maxSpread is how many neighbouring entries the words may be spread over.
const maxSpread = 3

// A match is where words of an argument were said.
type match struct {
	entries stream
	words   []string // what of the argument was said, as stems
	cover   float64  // the share of the words that carry meaning
	share   float64  // the share of all words
	literal bool     // the address itself, and not a name
	echo    bool
	from    time.Time
	to      time.Time
}

// A form is one way to say an argument.
type form struct {
	toks    []token // those that say what is meant
	all     []token
	literal string // an address in lower case, or the digits of a number; empty for words
	phone   bool
}

// forms returns all ways to say an argument.
func forms(a *Arg) []form {
	var out []form
	for _, text := range append([]string{a.Value}, a.Spoken...) {
		all := tokens(text)
		f := form{all: all, toks: content(all)}
		if a.Kind == Address {
			f.literal, f.phone = literal(text)
			if f.literal == "" {
				f.toks = names(all)
			}
		}
		if len(f.toks) > 0 || f.literal != "" {
			out = append(out, f)
		}
	}
	return out
}

// names returns the words of a name, of which every one counts. A symbol in it is
// not said.
func names(all []token) []token {
	return slices.DeleteFunc(slices.Clone(all), func(t token) bool {
		first, _ := utf8.DecodeRuneInString(t.plain)
		return t.plain == "" || isSymbol(first)
	})
}

// literal reports whether a text is an address or a number.
func literal(text string) (string, bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	if strings.Contains(text, "@") && !strings.ContainsAny(text, " \t") {
		return text, false
	}
	digits := onlyDigits(text)
	if rest := strings.Trim(text, "0123456789+-()/. \u00a0"); rest == "" && len(digits) >= 5 {
		return strings.TrimPrefix(digits, "00"), true
	}
	return "", false
}

func onlyDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
}

// spread finds where words were said, in any order. For each entry it returns the
// best match that begins there. The loose form also accepts words that only look
// the same.
func (st stream) spread(f *form, loose bool) []match {
	key := func(t *token) string {
		if loose {
			return t.far
		}
		return t.stem
	}
	var want []token // each word once: those that carry meaning, then the others
	meant := 0
	index := map[string]int{"": -1}
	for i, t := range slices.Concat(f.toks, f.all) {
		if _, known := index[key(&t)]; !known {
			index[key(&t)] = len(want)
			want = append(want, t)
		}
		if i < len(f.toks) {
			meant = len(want)
		}
	}
	hits := make([][]int, len(st)) // the wanted ones that each entry has
	for i, e := range st {
		for j := range e.toks {
			if at, ok := index[key(&e.toks[j])]; ok && at >= 0 {
				hits[i] = append(hits[i], at)
			}
		}
	}
	var out []match
	seen := make([]int, len(want))
	for i := range st {
		var m match
		var words []string
		all := 0
		for j := i; j < min(i+maxSpread, len(st)) && (j == i || joined(st[j-1], st[j])); j++ {
			for _, at := range hits[j] {
				if seen[at] == i+1 {
					continue
				}
				seen[at] = i + 1
				all++
				if at < meant {
					words = append(words, want[at].stem)
				}
			}
			if len(words) > len(m.words) {
				m = match{entries: st[i : j+1], words: words, cover: float64(len(words)) / float64(meant), share: float64(all) / float64(len(want))}
			}
		}
		if len(m.words) > 0 {
			m.from, m.to, m.echo = st[i].begin(), m.entries[len(m.entries)-1].end(), m.entries.anyEcho()
			out = append(out, m)
		}
	}
	return out
}

// plain returns the words of tokens.
func plain(toks []token) []string {
	var out []string
	for _, t := range toks {
		if t.plain != "" {
			out = append(out, t.plain)
		}
	}
	return out
}

// stems returns the words of tokens without their endings.
func stems(toks []token) []string {
	var out []string
	for _, t := range toks {
		if t.plain != "" {
			out = append(out, t.stem)
		}
	}
	return out
}
