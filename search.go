package hearken

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// SearchDepth is how many of the newest hits are ranked; older ones keep their
// order by time.
const SearchDepth = 2000

// SearchTerms is how many terms a query may have.
const SearchTerms = 100

// longestTerm bounds a term in characters. A longer word goes on as another
// term, so that no index has to cut it.
const longestTerm = 64

// A Query asks a store for entries by their words. Case and accents make no
// difference. Only what was said is found, not what the hub noted.
type Query struct {
	Text    string    // words, "quoted phrases", prefixes with a final *; all must be there
	Session string    // only in this session; empty for all
	Since   time.Time // only entries said at or after
	Until   time.Time // only entries said before
	Limit   int       // at most [SearchDepth]; 0 for 50
	Ranked  bool      // best first within the newest [SearchDepth], instead of newest first
}

// Clauses reads the query's text. One without any word, or with far too many,
// is [Invalid].
func (q *Query) Clauses() ([]Clause, error) {
	clauses := Clauses(q.Text)
	terms := 0
	for _, c := range clauses {
		terms += len(c.Terms)
	}
	switch {
	case terms == 0:
		return nil, Errorf(Invalid, "A search needs at least one word.").
			WithTry(`a word, a "quoted phrase", or the beginning of a word with *`)
	case terms > SearchTerms:
		return nil, Errorf(Invalid, "A search takes at most %d words; this one has %d.", SearchTerms, terms).
			WithTry("fewer words")
	}
	return clauses, nil
}

// Count is how many hits the query asks for.
func (q *Query) Count() int {
	switch {
	case q.Limit <= 0:
		return 50
	case q.Limit > SearchDepth:
		return SearchDepth
	}
	return q.Limit
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

// Matches reports whether the clause stands in a text that has these terms.
func (c Clause) Matches(terms []string) bool { return c.count(terms, 1) > 0 }

// count is how often the clause stands in terms, at most enough times.
func (c Clause) count(terms []string, enough int) int {
	n, last := 0, len(c.Terms)-1
next:
	for i := 0; i+last < len(terms) && n < enough; i++ {
		for j, t := range c.Terms {
			is := terms[i+j]
			if is != t && !(c.Prefix && j == last && strings.HasPrefix(is, t)) {
				continue next
			}
		}
		n++
	}
	return n
}

// Rank orders hits by how much they are about the clauses: those first that
// hold them often and say little else. Equal ones stay in their order.
func Rank(clauses []Clause, hits []Hit) {
	type scored struct {
		hit   Hit
		terms []string
		score float64
	}
	all := make([]scored, len(hits))
	total := 0
	for i, h := range hits {
		all[i] = scored{hit: h, terms: Terms(h.Segment.Text)}
		total += len(all[i].terms)
	}
	mean := max(float64(total)/float64(max(len(hits), 1)), 1)
	for i := range all {
		s := &all[i]
		// Okapi BM25 without the rarity of a term: every hit has them all.
		room := 1.2 * (0.25 + 0.75*float64(len(s.terms))/mean)
		for _, c := range clauses {
			n := float64(c.count(s.terms, len(s.terms)))
			s.score += n / (n + room)
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	for i := range all {
		hits[i] = all[i].hit
	}
}

// Terms cuts text into the terms that it is found by. Words are runs of
// letters and digits in lower case and without accents. Scripts without
// spaces give each pair of neighbouring characters, and the last character
// alone, so that a phrase of any length, even one character as a prefix, is
// found in them. Every store indexes these terms, so they all find the same.
func Terms(text string) []string {
	var terms []string
	cutTerms(text, func(term string, _ termKind) { terms = append(terms, term) })
	return terms
}

// Clauses reads a query as people type it. A query without any term has none.
func Clauses(text string) []Clause {
	var clauses []Clause
	add := func(s string) {
		c := Clause{Prefix: strings.HasSuffix(s, "*")}
		var before, last termKind
		cutTerms(s, func(term string, k termKind) {
			c.Terms = append(c.Terms, term)
			before, last = last, k
		})
		if len(c.Terms) == 0 {
			return
		}
		if last == endTerm {
			// The last character stands alone only at the end of a run; in
			// the middle of one it begins the next pair.
			if c.Prefix = before != pairTerm; !c.Prefix {
				c.Terms = c.Terms[:len(c.Terms)-1]
			}
		}
		clauses = append(clauses, c)
	}
	for i, part := range strings.Split(plainMarks.Replace(text), `"`) {
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

// plainMarks turns what keyboards and word processors make of quotes and
// asterisks back into the plain ones.
var plainMarks = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "＂", `"`, "＊", "*")

// termKind is what a term is made of.
type termKind byte

const (
	wordTerm termKind = iota + 1
	pairTerm          // two neighbouring characters of a script without spaces
	endTerm           // the last character of a run of them
)

// cutTerms finds the terms of text, in order.
func cutTerms(text string, term func(string, termKind)) {
	var run []rune // the word so far
	var last rune  // the previous character, if it was of a script without spaces
	flush := func() {
		if len(run) > 0 {
			term(string(run), wordTerm)
			run = run[:0]
		}
		if last != 0 {
			term(string(last), endTerm)
			last = 0
		}
	}
	for _, r := range text {
		if '！' <= r && r <= '～' { // wide forms of ASCII
			r -= '！' - '!'
		}
		switch {
		case unspaced(r):
			if len(run) > 0 {
				flush()
			}
			if last != 0 {
				term(string([]rune{last, r}), pairTerm)
			}
			last = r
		case unicode.IsMark(r) && (len(run) > 0 || last != 0):
			// Accents are dropped; what stands for a vowel is kept.
			if !accent(r) && 0 < len(run) && len(run) < longestTerm {
				run = append(run, r)
			}
		case unicode.IsLetter(r) && !apostrophe(r) || unicode.IsNumber(r):
			if last != 0 || len(run) >= longestTerm {
				flush()
			}
			run = append(run, foldRune(r))
		case apostrophe(r) && len(run) > 0:
			// "don't" and "dont" are one word
		default:
			flush()
		}
	}
	flush()
}

func apostrophe(r rune) bool { return r == '\'' || r == '’' || r == 'ʼ' }

// accent reports whether r only changes the look of the letter before it.
func accent(r rune) bool {
	return 0x0300 <= r && r <= 0x036F || unicode.Is(unicode.Variation_Selector, r)
}

// unspaced reports whether r belongs to a script that is written without
// spaces between words.
func unspaced(r rune) bool {
	if r < 0x0E00 {
		return false
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) || r == 'ー'
}

// foldRune gives the letter that r is compared as.
func foldRune(r rune) rune {
	if r < unicode.MaxASCII {
		return unicode.ToLower(r)
	}
	// By way of the upper case, because of letters with two lower cases.
	r = unicode.ToLower(unicode.ToUpper(r))
	if base, ok := foldBases[r]; ok {
		return base
	}
	return r
}

// foldBases maps accented letters to those without.
var foldBases = func() map[rune]rune {
	m := map[rune]rune{}
	for family := range strings.FieldsSeq(`
		aàáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặ bḃḅḇ cçćĉċčḉ dďđḋḍḏḑḓ
		eèéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ fḟ gĝğġģǧǵḡ hĥħȟḣḥḧḩḫẖ
		iìíîïĩīĭįıǐȉȋḭḯỉị jĵǰ kķǩḱḳḵ lĺļľłḷḹḻḽ mḿṁṃ nñńņňǹṅṇṉṋ
		oòóôõöøōŏőơǒǫǭǿȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ pṕṗ rŕŗřȑȓṙṛṝṟ
		sśŝşšșṡṣṥṧṩ tţťțṫṭṯṱẗ uùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự
		vṽṿ wŵẁẃẅẇẉẘ xẋẍ yýÿŷȳẏẙỳỵỷỹ zźżžẑẓẕ
		αά εέ ηή ιίϊΐ οό υύϋΰ ωώ её`) {
		letters := []rune(family)
		for _, r := range letters[1:] {
			m[r] = letters[0]
		}
	}
	return m
}()
