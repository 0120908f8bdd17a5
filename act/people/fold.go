package people

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// letters that have no decomposition, and how people type them.
var plainLetters = strings.NewReplacer(
	"ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ı", "i",
	"'", "", "’", "", "ʼ", "", ".", "", "-", " ", "‐", " ", "‑", " ", "・", " ",
)

// marked are the scripts whose marks people leave out. In others a mark makes
// another letter: か is not が.
var marked = []*unicode.RangeTable{unicode.Latin, unicode.Greek, unicode.Cyrillic}

// fold makes names comparable: without capitals, accents, the several widths
// of a letter, and what stands between words.
func fold(name string) string {
	if isASCII(name) {
		return words(strings.ToLower(name))
	}
	var b strings.Builder
	strip := false
	for _, r := range norm.NFKD.String(name) {
		if unicode.Is(unicode.Mn, r) {
			if strip {
				continue
			}
		} else {
			strip = unicode.In(r, marked...)
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return words(norm.NFC.String(b.String()))
}

// words writes letters as people type them, and one space between words.
func words(s string) string { return strings.Join(strings.Fields(plainLetters.Replace(s)), " ") }

// distance counts the letters that are other, missing, too many or swapped
// between two words, and gives up with more than most.
func distance(a, b string, most int) int {
	x, y := cut([]rune(a)), cut([]rune(b))
	if d := len(x) - len(y); d > most || -d > most {
		return most + 1
	}
	// Three rows of the table: the one before the last is for swapped letters.
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(y); j++ {
			change := 1
			if x[i-1] == y[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > most {
			return most + 1
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}

func cut(r []rune) []rune { return r[:min(len(r), maxCompare)] }
