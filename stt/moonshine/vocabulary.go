package moonshine

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	unicodenorm "golang.org/x/text/unicode/norm"

	"github.com/hearken-dev/hearken/editdistance"
)

// A vocabulary corrects names and terms that the model does not know: what
// sounds and looks almost like a term becomes the term. It is careful: a
// common word alone is never changed.
type vocabulary struct {
	terms  []term
	common func(word string) bool // whether a lower-case word is a common one
}

type term struct {
	text    string
	words   int
	letters string // folded, without spaces
	key     string // how it sounds
}

// minTerm is the shortest term that words may merely resemble: too many words
// are close to a shorter one.
const minTerm = 4

func newVocabulary(terms []string, common func(string) bool) *vocabulary {
	v := &vocabulary{common: common}
	for _, t := range terms {
		t = strings.Join(strings.Fields(t), " ")
		if letters := foldLetters(t); letters != "" {
			v.terms = append(v.terms, term{text: t, words: len(strings.Fields(t)), letters: letters, key: phoneticKey(letters)})
		}
	}
	// Longer terms first, so that "Ada Lovelace" wins over "Ada".
	slices.SortStableFunc(v.terms, func(a, b term) int { return len(b.letters) - len(a.letters) })
	return v
}

// A piece is a word of the text between its punctuation.
type piece struct {
	before, word, after string
	folded              string
	fixed               bool // belongs to a term
}

// correct returns the text with near misses corrected.
func (v *vocabulary) correct(text string) string {
	if len(v.terms) == 0 || text == "" {
		return text
	}
	var pieces []piece
	for f := range strings.FieldsSeq(text) {
		pieces = append(pieces, splitPunctuation(f))
	}
	changed := false
	for _, t := range v.terms {
		for i := 0; i < len(pieces); i++ {
			if n := v.matchTerm(t, pieces[i:]); n > 0 {
				rest := pieces[i+n-1].after
				p := piece{before: pieces[i].before, word: t.text, after: rest, fixed: true}
				changed = changed || n > 1 || pieces[i].word != t.text
				pieces = slices.Replace(pieces, i, i+n, p)
			}
		}
	}
	if !changed {
		return text
	}
	out := make([]string, len(pieces))
	for i, p := range pieces {
		out[i] = p.before + p.word + p.after
	}
	return strings.Join(out, " ")
}

// matchTerm returns how many of the first pieces are the term, or nearly so; 0 if
// none. The closest number of words wins.
func (v *vocabulary) matchTerm(t term, pieces []piece) int {
	best, words := 0.0, 0
	joined, allCommon := "", true
	for n := 1; n <= min(t.words+2, len(pieces)); n++ {
		p := pieces[n-1]
		if p.fixed || (n > 1 && (pieces[n-2].after != "" || p.before != "")) {
			break // punctuation stands between them
		}
		joined += p.folded
		allCommon = allCommon && v.common(p.folded)
		if c := closeness(t, joined, n, allCommon); c > best {
			best, words = c, n
		}
	}
	return words
}

// closeness is 0 for what is not the term, and 1 for what is.
func closeness(t term, letters string, words int, common bool) float64 {
	if letters == t.letters {
		return 1
	}
	if len(t.letters) < minTerm || (common && words <= t.words) {
		return 0
	}
	longer := float64(max(len(t.letters), len(letters)))
	edits := editdistance.Damerau([]byte(letters), []byte(t.letters), int(longer))
	alike := 1 - float64(edits)/longer
	key := phoneticKey(letters)
	switch same := key == t.key; {
	case same && words > t.words && len(t.key) >= 4 && alike >= 0.6: // "cube are netties"
		return alike
	case words > t.words && common:
		return 0
	case same && alike >= 0.6:
		return alike
	case alike >= 0.8 && editdistance.Damerau([]byte(key), []byte(t.key), 1) <= 1 && len(t.letters) > minTerm:
		return alike
	}
	return 0
}

// splitPunctuation takes the punctuation and a possessive ending off a word.
func splitPunctuation(field string) piece {
	isWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
	from := strings.IndexFunc(field, isWord)
	if from < 0 {
		return piece{after: field}
	}
	to := strings.LastIndexFunc(field, isWord)
	_, size := utf8.DecodeRuneInString(field[to:])
	to += size
	for _, own := range []string{"'s", "’s"} {
		if strings.HasSuffix(field[from:to], own) {
			to -= len(own)
		}
	}
	p := piece{before: field[:from], word: field[from:to], after: field[to:]}
	p.folded = foldLetters(p.word)
	return p
}

// foldLetters reduces a text to its letters and digits in lower case, without accents
// and spaces.
func foldLetters(text string) string {
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
