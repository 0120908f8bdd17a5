package evidence

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// A token is a word, a mark that belongs to addresses, or a run of symbols that
// nobody says, in the forms in which it is compared.
type token struct {
	exact string // lower case: what an address must have
	plain string // without accents, numbers as digits; empty for marks
	loose string // letters that look alike made the same: what the far side is caught with
	stem  string // plain without endings, for texts that say the same a little differently
	far   string // the same of loose
	mark  byte   // '@', '.', '-', '_' or '+', if it can stand for one
	at    float64
}

// withStems fills in the stems.
func withStems(toks []token) []token {
	for i := range toks {
		t := &toks[i]
		t.stem = stem(t.plain)
		if t.far = t.stem; t.loose != t.plain {
			t.far = stem(t.loose)
		}
	}
	return toks
}

// stem cuts the endings off that agents add and remove most: "meet" becomes a
// meeting, "calls" a call.
func stem(s string) string {
	for _, end := range [...]string{"ing", "ed", "en", "es", "s"} {
		if rest, ok := strings.CutSuffix(s, end); ok && len(rest) >= 4 && !strings.HasSuffix(rest, "s") {
			return rest
		}
	}
	return s
}

// isMark reports whether the token is written as a mark, and not as a word
// that may mean one.
func (t *token) isMark() bool { return t.plain == "" }

// single reports whether the token is one character, as in a spelled word.
func (t *token) single() bool { return len(t.plain) == 1 }

func (t *token) number() bool { return t.plain != "" && strings.Trim(t.plain, "0123456789") == "" }

// marks are the words that people say for the marks of addresses.
var marks = map[string]byte{
	"at": '@', "arroba": '@', "ät": '@', "aet": '@', "klammeraffe": '@', "chiocciola": '@', "arobase": '@', "zavinac": '@',
	"dot": '.', "punkt": '.', "ponto": '.', "punto": '.', "point": '.', "tecka": '.',
	"dash": '-', "hyphen": '-', "minus": '-', "bindestrich": '-', "strich": '-', "guion": '-', "hifen": '-', "tiret": '-',
	"underscore": '_', "unterstrich": '_', "sublinhado": '_', "plus": '+', "mas": '+', "mais": '+',
}

// Words for marks in scripts without spaces become private characters, so that
// they are not taken for letters.
const privateMarks = '\uE000'

var unspacedMarks = strings.NewReplacer(
	"アットマーク", string(privateMarks+'@'), "アット", string(privateMarks+'@'), "ドット", string(privateMarks+'.'),
	"ハイフン", string(privateMarks+'-'), "アンダーバー", string(privateMarks+'_'), "プラス", string(privateMarks+'+'),
)

// tokens splits a text. Words of letters, runs of digits, marks and runs of
// symbols are tokens of their own; scripts without spaces give pairs of
// neighbouring characters.
func tokens(text string) []token {
	var out []token
	var run []rune
	flush := func() {
		if len(run) > 0 {
			out = append(out, word(string(run)))
			run = run[:0]
		}
	}
	all := []rune(unspacedMarks.Replace(strings.ToLower(norm.NFKC.String(strings.Map(readable, text)))))
	for i := 0; i < len(all); i++ {
		r := all[i]
		switch {
		case unspaced(r):
			flush()
			end := i + 1
			for end < len(all) && unspaced(all[end]) {
				end++
			}
			out = append(out, pairs(all[i:end])...)
			i = end - 1
		case isSymbol(r):
			flush()
			end := i + 1
			for end < len(all) && (isSymbol(all[end]) || unicode.In(all[end], unicode.Cf, unicode.Mn, unicode.Sk)) {
				end++
			}
			out = append(out, word(string(all[i:end])))
			i = end - 1
		case unicode.IsLetter(r), unicode.IsMark(r) && len(run) > 0, unicode.IsNumber(r):
			if len(run) > 0 && unicode.IsNumber(r) != unicode.IsNumber(run[len(run)-1]) && !unicode.IsMark(r) {
				flush()
			}
			run = append(run, r)
		case unicode.Is(unicode.Cf, r):
			// Invisible characters separate nothing.
		default:
			flush()
			if m := mark(all, i); m != 0 {
				out = append(out, token{exact: string(rune(m)), mark: m})
			}
		}
	}
	flush()
	return withStems(numbers(out))
}

// mark returns the mark of an address at i. Dots and hyphens also end sentences
// and separate words, so they must stand between letters.
func mark(all []rune, i int) byte {
	r := all[i]
	if r > privateMarks && r < privateMarks+0x80 {
		return byte(r - privateMarks)
	}
	switch r {
	case '@', '_', '+':
		return byte(r)
	case '.', '-', '‐', '‑':
		between := i > 0 && i+1 < len(all) && !unicode.IsSpace(all[i-1]) && (unicode.IsLetter(all[i+1]) || unicode.IsNumber(all[i+1]))
		if between && r == '.' {
			return '.'
		}
		if between {
			return '-'
		}
	}
	return 0
}

// word returns the token of a run of letters or digits.
func word(s string) token {
	t := token{exact: s, plain: s, mark: marks[s]}
	ascii := strings.IndexFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) < 0
	if !ascii {
		t.plain = strip(s)
		if t.mark == 0 {
			t.mark = marks[t.plain]
		}
	}
	t.loose = t.plain
	if !ascii {
		t.loose = strings.Map(lookAlike, t.plain)
	}
	return t
}

// unspaced reports whether r belongs to a script that is written without
// spaces between words.
func unspaced(r rune) bool {
	return r >= 0x0E00 && (r == 'ー' || r == '〇' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar))
}

// pairs splits a run of characters without spaces: each with its neighbour, or
// a single one alone. Numbers in it stand for themselves.
func pairs(run []rune) []token {
	var out []token
	add := func(s string) { out = append(out, token{exact: s, plain: s, loose: s}) }
	for i := 0; i < len(run); {
		if digits, n := kanjiNumber(run[i:]); n > 0 {
			add(digits)
			i += n
			continue
		}
		end := i + 1
		for end < len(run) {
			if _, n := kanjiNumber(run[end:]); n > 0 {
				break
			}
			end++
		}
		if end == i+1 {
			add(string(run[i]))
		}
		for ; i+1 < end; i++ {
			add(string(run[i : i+2]))
		}
		i = end
	}
	return out
}
