package hearken

import (
	"strings"
	"time"
	"unicode"
)

// SearchDepth is how many of the newest hits are ranked; older ones keep their
// order by time.
const SearchDepth = 2000

// A Query asks a store for entries by their words.
type Query struct {
	Text    string    // words, "quoted phrases", prefixes with a final *; all must be there
	Session string    // only in this session; empty for all
	Since   time.Time // only entries said at or after
	Until   time.Time // only entries said before
	Limit   int
	Ranked  bool // best first within the newest [SearchDepth], instead of newest first
}

// A Hit is one entry that a search found, with its place.
type Hit struct {
	Session   string    `json:"sessionId"`
	Title     string    `json:"title,omitempty"`
	StartedAt time.Time `json:"startedAt"` // of the session
	Segment   Segment   `json:"segment"`
}

// A Clause is a run of terms that must stand one after the other.
type Clause struct {
	Terms  []string
	Prefix bool // the last term may go on
}

// Terms cuts text into the terms that it is found by. Words are runs of
// letters and digits in lower case. Scripts without spaces give each pair of
// neighbouring characters, and the last character alone, so that a phrase of
// any length, even one character as a prefix, is found in them. Every store
// indexes these terms, so they all find the same.
func Terms(text string) []string {
	var terms []string
	var word strings.Builder
	var last rune // the previous character, if it was of a script without spaces
	flush := func() {
		if word.Len() > 0 {
			terms = append(terms, word.String())
			word.Reset()
		}
		if last != 0 {
			terms = append(terms, string(last))
			last = 0
		}
	}
	for _, r := range text {
		switch {
		case unspaced(r):
			if word.Len() > 0 {
				flush()
			}
			if last != 0 {
				terms = append(terms, string([]rune{last, r}))
			}
			last = r
		case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Mn, r):
			if last != 0 {
				flush()
			}
			word.WriteRune(unicode.ToLower(r))
		case (r == '\'' || r == '’') && word.Len() > 0:
			// "don't" and "dont" are one word
		default:
			flush()
		}
	}
	flush()
	return terms
}

// Clauses reads a query as people type it. A query without any term has none.
func Clauses(text string) []Clause {
	var clauses []Clause
	add := func(s string) {
		terms := Terms(s)
		if len(terms) == 0 {
			return
		}
		prefix := strings.HasSuffix(s, "*")
		end := []rune(strings.TrimRight(s, "*"))
		if n := len(end); n > 0 && unspaced(end[n-1]) {
			// The last character stands alone only at the end of a run; in
			// the middle it begins the next pair.
			if k := len(terms) - 1; k > 0 && terms[k-1] != terms[k] && strings.HasSuffix(terms[k-1], terms[k]) {
				terms, prefix = terms[:len(terms)-1], false
			} else {
				prefix = true
			}
		}
		clauses = append(clauses, Clause{Terms: terms, Prefix: prefix})
	}
	for i, part := range strings.Split(text, `"`) {
		if i%2 == 1 {
			add(part)
			continue
		}
		for word := range strings.FieldsSeq(part) {
			add(word)
		}
	}
	return clauses
}

// unspaced reports whether r belongs to a script that is written without
// spaces between words.
func unspaced(r rune) bool {
	if r < 0x0E00 {
		return false
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) || r == 'ー'
}
