package people

import (
	"strings"
	"unicode"

	"github.com/hearken-dev/hearken/editdistance"
	"golang.org/x/text/unicode/norm"
)

// plainLetters replaces letters that Unicode does not decompose, as people type
// them, and what stands between words.
var plainLetters = strings.NewReplacer(
	"ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ı", "i",
	"'", "", "’", "", "ʼ", "", ".", "", "-", " ", "‐", " ", "‑", " ", "・", " ",
)

// accentedScripts are the scripts whose accents people leave out. In others a
// mark makes another letter: か is not が.
var accentedScripts = []*unicode.RangeTable{unicode.Latin, unicode.Greek, unicode.Cyrillic}

// fold makes names comparable: it removes case, accents, width variants of
// letters, and punctuation between words.
func fold(name string) string {
	if isASCII(name) {
		return joinWords(strings.ToLower(name))
	}
	var b strings.Builder
	strip := false
	for _, r := range norm.NFKD.String(name) {
		if unicode.Is(unicode.Mn, r) {
			if strip {
				continue
			}
		} else {
			strip = unicode.In(r, accentedScripts...)
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return joinWords(norm.NFC.String(b.String()))
}

// joinWords applies plainLetters and puts one space between words.
func joinWords(s string) string { return strings.Join(strings.Fields(plainLetters.Replace(s)), " ") }

// distance counts the letters that differ, are missing, extra or swapped. It
// returns more than limit as soon as the count exceeds it.
func distance(a, b string, limit int) int {
	return editdistance.Damerau(truncate([]rune(a)), truncate([]rune(b)), limit)
}

func truncate(r []rune) []rune { return r[:min(len(r), maxCompare)] }
