package evidence

import (
	"slices"
	"strings"
)

// flat is a stream as one list of tokens.
type flat struct {
	st   stream
	toks []*token
	in   []int // the entry of each
}

func (st stream) flat() flat {
	f := flat{st: st}
	for i, e := range st {
		for j := range e.toks {
			f.toks = append(f.toks, &e.toks[j])
			f.in = append(f.in, i)
		}
	}
	return f
}

// together reports whether token i and the one before belong to one utterance.
func (f *flat) together(i int) bool {
	return i > 0 && i < len(f.toks) && (f.in[i] == f.in[i-1] || joined(f.st[f.in[i-1]], f.st[f.in[i]]))
}

// match returns a match of the tokens i to j-1, unless they are spread too far.
func (f *flat) match(i, j int, literal bool) (match, bool) {
	if f.in[j-1]-f.in[i] >= maxSpread {
		return match{}, false
	}
	m := match{entries: f.st[f.in[i] : f.in[j-1]+1], cover: 1, share: 1, literal: literal}
	for _, t := range f.toks[i:j] {
		if t.plain != "" && !slices.Contains(m.words, t.stem) {
			m.words = append(m.words, t.stem)
		}
	}
	m.from = f.st[f.in[i]].wall(f.toks[i].at)
	m.to = f.st[f.in[j-1]].wall(f.toks[j-1].at)
	return m, true
}

// name finds where all words of a name stand one after the other.
func (f *flat) name(want []token) []match {
	if !slices.ContainsFunc(want, func(t token) bool { return pronounsForMe[t.plain] || !filler(t.plain) }) {
		return nil // Will is a name, and yet who says "will" rarely means him
	}
	var out []match
next:
	for i := 0; i+len(want) <= len(f.toks); i++ {
		for j := range want {
			if f.toks[i+j].plain != want[j].plain || j > 0 && !f.together(i+j) {
				continue next
			}
		}
		if m, ok := f.match(i, i+len(want), false); ok {
			out = append(out, m)
		}
	}
	return out
}

var pronounsForMe = map[string]bool{"me": true, "mir": true, "mich": true, "moi": true}

// address finds where exactly this address was said.
func (f *flat) address(want string) []match {
	var out []match
	for i := range f.toks {
		end, ok := f.spell(i, want)
		if !ok || f.continues(i, end) {
			continue
		}
		if m, ok := f.match(i, end, true); ok {
			out = append(out, m)
		}
	}
	return out
}

// spell tries to read an address from the tokens at i, and returns where it
// ends. A word for a mark may also be part of a name.
func (f *flat) spell(i int, want string) (end int, ok bool) {
	if want == "" {
		return i, true
	}
	if i >= len(f.toks) {
		return 0, false
	}
	t := f.toks[i]
	for _, s := range [...]string{t.exact, t.plain, markText(t.mark)} {
		rest, ok := strings.CutPrefix(want, s)
		if s == "" || !ok || s == t.plain && s != t.exact && !t.number() || rest != "" && i+1 < len(f.toks) && !f.together(i+1) {
			continue
		}
		if end, ok := f.spell(i+1, rest); ok {
			return end, true
		}
	}
	return 0, false
}

func markText(m byte) string {
	if m == 0 {
		return ""
	}
	return string(rune(m))
}

// continues reports whether what was said is only a part of a longer address:
// evil@hub.example of devil@hub.example, or of evil@hub.example.org.
func (f *flat) continues(from, to int) bool {
	if f.together(from) {
		switch before := f.toks[from-1]; {
		case before.isMark(), before.mark != 0 && before.mark != '@':
			return true
		case before.single() && f.toks[from].single():
			return true // spelled, and the first letters were left out
		}
	}
	if f.together(to) {
		switch after := f.toks[to]; {
		case after.isMark(), after.mark == '.', after.mark == '-' && to+1 < len(f.toks), after.mark == '_':
			return true
		case after.single() && f.toks[to-1].single():
			return true
		}
	}
	return false
}

// number finds where exactly these digits were said in one go.
func (f *flat) number(want string) []match {
	var out []match
	for i := 0; i < len(f.toks); i++ {
		if !f.toks[i].number() {
			continue
		}
		var b strings.Builder
		end, j := i, i
		for ; j < len(f.toks) && (j == i || f.together(j)); j++ {
			t := f.toks[j]
			if t.number() {
				b.WriteString(t.plain)
				end = j + 1
			} else if !t.isMark() && t.mark != '-' && t.mark != '+' {
				break
			}
		}
		if strings.TrimPrefix(b.String(), "00") == want {
			if m, ok := f.match(i, end, true); ok {
				out = append(out, m)
			}
		}
		i = j
	}
	return out
}

// hint finds where something similar to the address was said, in however many
// pieces. That is enough to know that somebody else spoke of it.
func (st stream) hint(f *form) []match {
	want := squash(f.all)
	if f.phone {
		want = f.literal[max(0, len(f.literal)-7):]
	}
	var out []match
	for i := range st {
		var b strings.Builder
		for j := i; j < min(i+maxSpread, len(st)) && (j == i || joined(st[j-1], st[j])); j++ {
			if f.phone {
				b.WriteString(onlyDigits(st[j].squashed))
			} else {
				b.WriteString(st[j].squashed)
			}
			if want != "" && strings.Contains(b.String(), want) {
				m := match{entries: st[i : j+1], words: stems(f.all), cover: 1, share: 1, literal: true, from: st[i].begin(), to: st[j].end()}
				m.echo = m.entries.anyEcho()
				out = append(out, m)
				break
			}
		}
	}
	return out
}

// squash joins tokens without marks and spaces.
func squash(toks []token) string {
	var b strings.Builder
	for _, t := range toks {
		if t.mark == 0 {
			b.WriteString(t.loose)
		}
	}
	return b.String()
}
