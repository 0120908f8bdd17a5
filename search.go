package hearken

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// SearchDepth is how many of the newest hits are ranked. Older ones are not
// looked at.
const SearchDepth = 2000

// SearchTerms is how many terms a query may have.
const SearchTerms = 100

// maxTermLength bounds a term in characters. The rest of a longer word is
// another term, so that no index has to cut it.
const maxTermLength = 64

// A Query asks a store for entries by their words, regardless of case and
// accents. It finds what was said, not the events that the hub wrote.
type Query struct {
	Text    string    // words, "quoted phrases" and prefixes with a final *; an entry needs them all
	Session string    // only in this session; empty for all
	Since   time.Time // only entries said at this time or later
	Until   time.Time // only entries said before
	Limit   int       // at most [SearchDepth]; 0 for 50
	Ranked  bool      // best first within the newest [SearchDepth], instead of newest first
}

// Clauses parses the query's text. A text without words, or with more than
// [SearchTerms], is [Invalid].
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
		return nil, Errorf(Invalid, "A search has at most %d words, but this one has %d.", SearchTerms, terms).
			WithTry("fewer words")
	}
	return clauses, nil
}

// Count is how many hits the query asks for.
func (q *Query) Count() int {
	if q.Limit <= 0 {
		return 50
	}
	return min(q.Limit, SearchDepth)
}

// Matches reports whether an entry is speech from the query's time in which
// all clauses occur. It does not compare the session.
func (q *Query) Matches(clauses []Clause, g *Segment) bool {
	return g.Spoken() &&
		(q.Since.IsZero() || !g.Timestamp.Before(q.Since)) &&
		(q.Until.IsZero() || g.Timestamp.Before(q.Until)) &&
		ContainsAll(g.Text, clauses)
}

// A Hit is one entry that a search found, and its session.
type Hit struct {
	Session   string    `json:"sessionId"`
	Title     string    `json:"title,omitempty"`
	StartedAt time.Time `json:"startedAt"` // of the session
	Segment   Segment   `json:"segment"`
}

// A Clause is a sequence of terms that must follow each other.
type Clause struct {
	Terms  []string
	Prefix bool // the last term is the beginning of a word
}

// ContainsAll reports whether all clauses occur in a text.
func ContainsAll(text string, clauses []Clause) bool {
	if len(clauses) == 0 {
		return true
	}
	terms := Terms(text)
	return !slices.ContainsFunc(clauses, func(c Clause) bool { return !c.Matches(terms) })
}

// Matches reports whether the clause occurs in a text that has these terms.
func (c Clause) Matches(terms []string) bool { return c.count(terms, 1) > 0 }

// count is how often the clause occurs in terms, counted up to limit.
func (c Clause) count(terms []string, limit int) int {
	n, last := 0, len(c.Terms)-1
next:
	for i := 0; i+last < len(terms) && n < limit; i++ {
		for j, t := range c.Terms {
			got := terms[i+j]
			if got != t && !(c.Prefix && j == last && strings.HasPrefix(got, t)) {
				continue next
			}
		}
		n++
	}
	return n
}

// Rank sorts hits by relevance: first those that contain the clauses often and
// little else. Equally relevant hits keep their order.
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
		// Okapi BM25 without the rarity of a term, since every hit has all terms.
		saturation := 1.2 * (0.25 + 0.75*float64(len(s.terms))/mean)
		for _, c := range clauses {
			n := float64(c.count(s.terms, len(s.terms)))
			s.score += n / (n + saturation)
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	for i := range all {
		hits[i] = all[i].hit
	}
}

// Terms splits text into the terms by which a search finds it. A word is a
// sequence of letters and digits, in lower case and without accents. In scripts
// without spaces, each pair of neighbouring characters is a term, and so is the
// last character alone; so a search finds phrases of any length in them. Every
// store indexes these terms, so all stores find the same.
func Terms(text string) []string {
	var terms []string
	splitTerms(text, func(term string, _ termKind) { terms = append(terms, term) })
	return terms
}

// Clauses parses a query as people type it. A query without terms has none.
func Clauses(text string) []Clause {
	var clauses []Clause
	add := func(s string) {
		c := Clause{Prefix: strings.HasSuffix(s, "*")}
		var before, last termKind
		splitTerms(s, func(term string, k termKind) {
			c.Terms = append(c.Terms, term)
			before, last = last, k
		})
		if len(c.Terms) == 0 {
			return
		}
		if last == endTerm {
			// The last character is a term only at the end of a sequence. In
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

// plainMarks replaces typographic and full-width quotes and asterisks by the
// plain ones.
var plainMarks = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "＂", `"`, "＊", "*")

// termKind is what a term is made of.
type termKind byte

const (
	wordTerm termKind = iota + 1
	pairTerm          // two neighbouring characters of a script without spaces
	endTerm           // the last of several such characters
)

// splitTerms calls yield with each term of text, in order.
func splitTerms(text string, yield func(string, termKind)) {
	var word []rune // so far
	var last rune   // the previous character, if its script has no spaces
	flush := func() {
		if len(word) > 0 {
			yield(string(word), wordTerm)
			word = word[:0]
		}
		if last != 0 {
			yield(string(last), endTerm)
			last = 0
		}
	}
	for _, r := range text {
		if '！' <= r && r <= '～' { // wide forms of ASCII
			r -= '！' - '!'
		}
		switch {
		case isUnspaced(r):
			if len(word) > 0 {
				flush()
			}
			if last != 0 {
				yield(string([]rune{last, r}), pairTerm)
			}
			last = r
		case unicode.IsMark(r) && (len(word) > 0 || last != 0):
			// Accents are dropped, but not marks that stand for a vowel.
			if !isAccent(r) && 0 < len(word) && len(word) < maxTermLength {
				word = append(word, r)
			}
		case unicode.IsLetter(r) && !isApostrophe(r) || unicode.IsNumber(r):
			if last != 0 || len(word) >= maxTermLength {
				flush()
			}
			word = append(word, foldRune(r))
		case isApostrophe(r) && len(word) > 0:
			// "don't" and "dont" are one word
		default:
			flush()
		}
	}
	flush()
}

func isApostrophe(r rune) bool { return r == '\'' || r == '’' || r == 'ʼ' }

// isAccent reports whether r only changes the look of the letter before it.
func isAccent(r rune) bool {
	return 0x0300 <= r && r <= 0x036F || unicode.Is(unicode.Variation_Selector, r)
}

// isUnspaced reports whether r belongs to a script that is written without
// spaces between words.
func isUnspaced(r rune) bool {
	if r < 0x0E00 {
		return false
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) || r == 'ー'
}

// foldRune returns the letter as which r is compared.
func foldRune(r rune) rune {
	if r < unicode.MaxASCII {
		return unicode.ToLower(r)
	}
	// Through upper case, because some letters have two lower cases.
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
