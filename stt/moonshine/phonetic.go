package moonshine

import (
	"strings"
	"unicode"

	unicodenorm "golang.org/x/text/unicode/norm"
)

// fold reduces a text to its letters and digits in lower case, without accents
// and spaces.
func fold(text string) string {
	var b strings.Builder
	for _, r := range unicodenorm.NFD.String(text) {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// spellings are written differently and sound alike, longer ones first.
var spellings = strings.NewReplacer(
	"tch", "x", "sch", "x", "tion", "xn", "ough", "o",
	"ph", "f", "ck", "k", "ch", "x", "sh", "x", "th", "0", "wh", "w", "wr", "r", "kn", "n",
	"gh", "k", "dg", "x", "ce", "s", "ci", "s", "cy", "s", "ge", "x", "gi", "x", "qu", "kw",
)

// phoneticKey is a rough key for how a folded word sounds: its consonants,
// where those that are easily confused are the same, after its first vowel if
// it begins with one.
func phoneticKey(letters string) string {
	var b strings.Builder
	var last rune
	for i, r := range spellings.Replace(letters) {
		switch r {
		case 'a', 'e', 'i', 'o', 'u', 'y', 'h', 'w':
			if i > 0 || r == 'h' {
				last = 0
				continue
			}
			if r != 'w' {
				r = 'a'
			}
		case 'b':
			r = 'p'
		case 'd':
			r = 't'
		case 'v':
			r = 'f'
		case 'z':
			r = 's'
		case 'g', 'c', 'q':
			r = 'k'
		case 'j':
			r = 'x'
		}
		if r != last {
			b.WriteRune(r)
		}
		last = r
	}
	return b.String()
}
