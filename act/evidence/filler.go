package evidence

import (
	"strings"
	"unicode"
)

// filler reports whether a token says little about what is meant.
func filler(s string) bool {
	if fillers[s] {
		return true
	}
	for _, r := range s {
		if !unicode.Is(unicode.Hiragana, r) {
			return false
		}
	}
	return true
}

var fillers = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`
		a an the to of in on at for and or is are was be been it this that i you he she we they me my your his her our their
		s t ll re ve d m will would can could shall should do does did have has had with from as by so just please
		der die das den dem des ein eine einen einem und oder ist sind war zu zum zur im am auf fur mit von ich du er sie es wir ihr mir dir mich dich bitte
		el la los las un una unos unas y o de del al en es son que por para con yo tu se lo le mi su me te favor
		um uma os as e ou do da dos das no na nos nas em com eu ele ela voce meu minha seu sua por favor
		le les des du et ou est au aux dans pour avec je tu il elle nous vous`) {
		m[w] = true
	}
	return m
}()

// content returns the distinct tokens of a text that carry meaning, in order. A
// text of fillers only is taken as a whole.
func content(all []token) []token {
	take := func(skip bool) []token {
		seen := map[string]bool{}
		var out []token
		for _, t := range all {
			if t.plain != "" && !seen[t.stem] && !(skip && filler(t.plain)) {
				seen[t.stem] = true
				out = append(out, t)
			}
		}
		return out
	}
	if out := take(true); len(out) > 0 {
		return out
	}
	return take(false)
}
