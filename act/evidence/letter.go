package evidence

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A text can be written in letters that nobody says: in squares, as flags, in
// Braille, small above other letters. What people read as letters is compared
// as such. All other symbols count as words that were not said.

// drawn are letters and digits in rows, beginning with the given character, for
// which Unicode has no plain form.
var drawn = []struct {
	first rune
	plain string
}{
	{0x0363, "aeioucdhmrtvx"},                                           // above other letters
	{0x2776, "123456789"}, {0x2780, "123456789"}, {0x278A, "123456789"}, // in circles
	{0x1F150, "abcdefghijklmnopqrstuvwxyz"}, // in black circles
	{0x1F170, "abcdefghijklmnopqrstuvwxyz"}, // in black squares
	{0x1F1E6, "abcdefghijklmnopqrstuvwxyz"}, // of flags
}

// braille are the letters from a to z.
const braille = "⠁⠃⠉⠙⠑⠋⠛⠓⠊⠚⠅⠇⠍⠝⠕⠏⠟⠗⠎⠞⠥⠧⠺⠭⠽⠵"

// readable returns the plain form of a drawn letter or digit. Private characters
// are replaced, since this package gives some a meaning of its own.
func readable(r rune) rune {
	if r < drawn[0].first {
		return r
	}
	for _, row := range drawn {
		if i := int(r - row.first); i >= 0 && i < len(row.plain) {
			return rune(row.plain[i])
		}
	}
	if i := strings.IndexRune(braille, r); i >= 0 {
		return 'a' + rune(i/utf8.RuneLen(r))
	}
	if unicode.Is(unicode.Co, r) {
		return utf8.RuneError
	}
	return r
}

// isSymbol reports whether r is something that nobody says, such as an emoji, an
// invisible letter, or a character that this program does not know. It leaves
// out the few symbols of everyday texts, such as the degree sign.
func isSymbol(r rune) bool {
	invisible := r >= 0xE0020 && r < 0xE007F
	return invisible || r > unicode.MaxLatin1 && unicode.In(r, unicode.So, unicode.Cn)
}

// strip removes accents and writes letters out that have no other form.
func strip(s string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(s) {
		if isAccent(r) {
			continue
		}
		if plain, ok := writtenAs[r]; ok {
			b.WriteString(plain)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// isAccent reports whether a word remains the same without r: a mark that is
// neither a vowel nor another letter, and does not strike a letter out.
func isAccent(r rune) bool {
	switch {
	case r >= 0x0334 && r <= 0x0338, r == 0x20E0: // strike out
		return false
	case r >= 0x1DD3 && r <= 0x1DF4, r >= 0x2DE0 && r <= 0x2DFF, r >= 0xA674 && r <= 0xA67D: // letters above others
		return false
	}
	return unicode.In(r, unicode.Mn, unicode.Me) &&
		!unicode.In(r, unicode.Devanagari, unicode.Bengali, unicode.Tamil, unicode.Thai, unicode.Hebrew, unicode.Arabic)
}

var writtenAs = map[rune]string{'ß': "ss", 'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'þ': "th", 'æ': "ae", 'œ': "oe", 'ı': "i", 'ħ': "h"}

// lookAlike maps letters of other scripts, and small capitals, to the Latin ones
// that look the same.
func lookAlike(r rune) rune {
	if latin, ok := alike[r]; ok {
		return latin
	}
	return r
}

var alike = func() map[rune]rune {
	m := map[rune]rune{}
	for pair := range strings.FieldsSeq(`аa вb сc ԁd еe ѓr ɡg һh нh іi їi јj кk ӏl мm оo пn рp ԛq рp ѕs тt цu ѵv ԝw хx уy
		αa βb εe ηn ιi κk νv οo ρp τt υu χx γy ωw
		ᴀa ʙb ᴄc ᴅd ᴇe ꜰf ɢg ʜh ɪi ᴊj ᴋk ʟl ᴍm ɴn ᴏo ᴘp ʀr ꜱs ᴛt ᴜu ᴠv ᴡw ʏy ᴢz`) {
		r := []rune(pair)
		m[r[0]] = r[1]
	}
	return m
}()
