package evidence

import (
	"slices"
	"strings"
	"time"
)

// maxSpread is how many neighbouring entries the words may be spread over.
const maxSpread = 3

// A match is where words of an argument were said.
type match struct {
	entries []*spokenEntry
	words   []string // what of the argument was said, as stems
	cover   float64
	literal bool // the address itself, and not a name
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
				f.toks = words(all) // of a name every word counts
			}
		}
		if len(f.toks) > 0 || f.literal != "" {
			out = append(out, f)
		}
	}
	return out
}

func words(all []token) []token {
	return slices.DeleteFunc(slices.Clone(all), func(t token) bool { return t.plain == "" })
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

// joined reports whether b continues what a said.
func joined(a, b *spokenEntry) bool {
	same := a.seg.Speaker == nil || b.seg.Speaker == nil || *a.seg.Speaker == *b.seg.Speaker
	return same && b.begin().Sub(a.end()) <= pause
}

// spread finds where tokens were said, in any order. For each entry it returns
// the best match that begins there and is good enough. The loose form also
// accepts words that only look the same.
func (st stream) spread(want []token, loose bool) []match {
	if len(want) == 0 {
		return nil
	}
	index := make(map[string]int, len(want))
	for i, t := range want {
		if loose {
			index[t.far] = i
		} else {
			index[t.stem] = i
		}
	}
	hits := make([][]int, len(st)) // the wanted ones that each entry has
	for i, e := range st {
		for j := range e.toks {
			key := e.toks[j].stem
			if loose {
				key = e.toks[j].far
			}
			if at, ok := index[key]; ok && key != "" {
				hits[i] = append(hits[i], at)
			}
		}
	}
	var out []match
	seen := make([]int, len(want))
	for i := range st {
		if len(hits[i]) == 0 {
			continue
		}
		best, bestEnd, n := 0, i, 0
		for j := i; j < min(i+maxSpread, len(st)); j++ {
			if j > i && !joined(st[j-1], st[j]) {
				break
			}
			for _, at := range hits[j] {
				if seen[at] != i+1 {
					seen[at] = i + 1
					n++
				}
			}
			if n > best {
				best, bestEnd = n, j
			}
		}
		if cover := float64(best) / float64(len(want)); cover >= floor {
			m := match{entries: st[i : bestEnd+1], cover: cover}
			for _, h := range hits[i : bestEnd+1] {
				for _, at := range h {
					if !slices.Contains(m.words, want[at].stem) {
						m.words = append(m.words, want[at].stem)
					}
				}
			}
			m.from, m.to = m.entries[0].begin(), m.entries[len(m.entries)-1].end()
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

// within finds part in all, one word after the other.
func within(all, part []string) (int, bool) {
	for i := 0; i+len(part) <= len(all); i++ {
		if slices.Equal(all[i:i+len(part)], part) {
			return i, true
		}
	}
	return 0, len(part) == 0
}
