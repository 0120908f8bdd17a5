package hearken_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hearken-dev/hearken"
)

func TestTerms(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"Empty":          {"", nil},
		"Words":          {"Hello, World! 42", []string{"hello", "world", "42"}},
		"Apostrophes":    {"don't don’t donʼt 'quoted' rock'n'roll", []string{"dont", "dont", "dont", "quoted", "rocknroll"}},
		"Hyphens":        {"well-known e-mail", []string{"well", "known", "e", "mail"}},
		"Accents":        {"Não é café, NAÏVE Łódź", []string{"nao", "e", "cafe", "naive", "lodz"}},
		"AccentsApart":   {"cafe\u0301 nai\u0308ve", []string{"cafe", "naive"}},
		"Vietnamese":     {"Việt Nam", []string{"viet", "nam"}},
		"Greek":          {"ΟΔΟΣ οδός", []string{"οδοσ", "οδοσ"}},
		"Russian":        {"Ещё раз", []string{"еще", "раз"}},
		"Hindi":          {"हिन्दी में", []string{"हिन्दी", "में"}},
		"Arabic":         {"مرحبا بالعالم", []string{"مرحبا", "بالعالم"}},
		"Korean":         {"한국어 음성", []string{"한국어", "음성"}},
		"Japanese":       {"東京タワー", []string{"東京", "京タ", "タワ", "ワー", "ー"}},
		"OneCharacter":   {"東", []string{"東"}},
		"Thai":           {"น้ำ", []string{"น้", "้ำ", "ำ"}},
		"Mixed":          {"iPhone15を買う", []string{"iphone15", "を買", "買う", "う"}},
		"Wide":           {"ＡＢＣ１２３", []string{"abc123"}},
		"Punctuation":    {"日本。東", []string{"日本", "本", "東"}},
		"Variation":      {"葛\U000E0100城 ❤️", []string{"葛城", "城"}},
		"Emoji":          {"👍🏽 ok", []string{"ok"}},
		"NUL":            {"one\x00two", []string{"one", "two"}},
		"InvalidUTF8":    {"one\xfftwo", []string{"one", "two"}},
		"StandaloneMark": {"\u0301 a", []string{"a"}},
		"LongWord":       {strings.Repeat("x", 65), []string{strings.Repeat("x", 64), "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, hearken.Terms(tt.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestClauses(t *testing.T) {
	whole := func(terms ...string) hearken.Clause { return hearken.Clause{Terms: terms} }
	prefix := func(terms ...string) hearken.Clause { return hearken.Clause{Terms: terms, Prefix: true} }
	for name, tt := range map[string]struct {
		text string
		want []hearken.Clause
	}{
		"Nothing":       {` "" * ' `, nil},
		"Words":         {"Hello world", []hearken.Clause{whole("hello"), whole("world")}},
		"Phrase":        {`say "hello world" now`, []hearken.Clause{whole("say"), whole("hello", "world"), whole("now")}},
		"CurlyQuotes":   {`“hello world”`, []hearken.Clause{whole("hello", "world")}},
		"OpenQuote":     {`say "hello wor*`, []hearken.Clause{whole("say"), prefix("hello", "wor")}},
		"Prefix":        {"trans*", []hearken.Clause{prefix("trans")}},
		"Hyphen":        {"e-mail", []hearken.Clause{whole("e", "mail")}},
		"Han":           {"東", []hearken.Clause{prefix("東")}},
		"HanPair":       {"東京", []hearken.Clause{whole("東京")}},
		"HanThree":      {"東京都*", []hearken.Clause{whole("東京", "京都")}},
		"HanTwice":      {"人人", []hearken.Clause{whole("人人")}},
		"HanFullStop":   {"「東京」。", []hearken.Clause{whole("東京")}},
		"HanPhrase":     {`"東京 都"`, []hearken.Clause{prefix("東京", "京", "都")}},
		"WideSpace":     {"東京　大阪", []hearken.Clause{whole("東京"), whole("大阪")}},
		"Mixed":         {"iPhone買", []hearken.Clause{prefix("iphone", "買")}},
		"SyntaxIsWords": {"a OR (b) NEAR:c ^d -e", []hearken.Clause{whole("a"), whole("or"), whole("b"), whole("near", "c"), whole("d"), whole("e")}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, hearken.Clauses(tt.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestClause_In(t *testing.T) {
	for _, tt := range []struct {
		query, text string
		want        bool
	}{
		{"world", "Hello, world", true},
		{"worl", "Hello, world", false},
		{"worl*", "Hello, world", true},
		{`"hello world"`, "Hello, world", true},
		{`"world hello"`, "Hello, world", false},
		{`"hello wor*"`, "Hello, world", true},
		{`"hel* world"`, "Hello, world", false},
		{"a", "", false},
		{"京", "東京都", true},
		{"都", "東京都", true},
		{"東京", "東京都", true},
		{"東都", "東京都", false},
		{"京東", "東京都", false},
		{"東京都庁", "東京都", false},
		{"東京。", "東京都", true},
		{"ワ", "東京タワー", true},
		{"cafe", "Um CAFÉ", true},
		{"café", "um cafe", true},
	} {
		terms := hearken.Terms(tt.text)
		clauses := hearken.Clauses(tt.query)
		if len(clauses) != 1 {
			t.Fatalf("%q has %d clauses", tt.query, len(clauses))
		}
		if got := clauses[0].Matches(terms); got != tt.want {
			t.Errorf("%q in %q = %v", tt.query, tt.text, got)
		}
	}
}

// Any stretch of an unspaced run, and any word of a text, finds that text.
func TestTerms_FindThemselves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("東京都タワーกขabcÉ '-.\"*１"))).Draw(t, "text")
		terms := hearken.Terms(text)
		for part := range strings.FieldsSeq(text) {
			for _, c := range hearken.Clauses(strings.ReplaceAll(part, `"`, " ")) {
				if !c.Matches(terms) {
					t.Fatalf("%q: %+v is not in %q", part, c, terms)
				}
			}
		}
		run := rapid.StringOfN(rapid.SampledFrom([]rune("東京都タワーกข")), 1, 12, -1).Draw(t, "run")
		from := rapid.IntRange(0, utf8.RuneCountInString(run)-1).Draw(t, "from")
		to := rapid.IntRange(from+1, utf8.RuneCountInString(run)).Draw(t, "to")
		part := string([]rune(run)[from:to])
		if c := hearken.Clauses(part); len(c) != 1 || !c[0].Matches(hearken.Terms(run)) {
			t.Fatalf("%q %+v is not in %q", part, c, run)
		}
		other := rapid.StringOfN(rapid.SampledFrom([]rune("東京都")), 1, 3, -1).Draw(t, "other")
		if got, want := hearken.Clauses(other)[0].Matches(hearken.Terms(run)), strings.Contains(run, other); got != want {
			t.Fatalf("%q in %q = %v", other, run, got)
		}
	})
}

func FuzzTerms(f *testing.F) {
	f.Add("Hello 東京 \"a b\" ไทย*")
	f.Fuzz(func(t *testing.T, text string) {
		for _, term := range hearken.Terms(text) {
			if term == "" || !utf8.ValidString(term) || strings.ContainsAny(term, " \x00'\"\\*") {
				t.Errorf("term %q of %q", term, text)
			}
		}
		hearken.Clauses(text)
	})
}

func TestQuery_Clauses(t *testing.T) {
	for _, text := range []string{"", " ", `""`, "*", "?!", strings.Repeat("word ", hearken.SearchTerms+1)} {
		if _, err := (&hearken.Query{Text: text}).Clauses(); hearken.CodeOf(err) != hearken.Invalid {
			t.Errorf("%.20q: error %v", text, err)
		}
	}
	if c, err := (&hearken.Query{Text: "a b"}).Clauses(); err != nil || len(c) != 2 {
		t.Errorf("got %v, %v", c, err)
	}
}

func TestRank(t *testing.T) {
	var hits []hearken.Hit
	for _, text := range []string{"one apple among many other different things", "an apple", "apple, apple and apple pie", "an apple"} {
		hits = append(hits, hearken.Hit{Session: string(rune('a' + len(hits))), Segment: hearken.Segment{Text: text}})
	}
	hearken.Rank(hearken.Clauses("apple"), hits)
	var got []string
	for _, h := range hits {
		got = append(got, h.Session)
	}
	if want := []string{"c", "b", "d", "a"}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
	hearken.Rank(nil, nil)
}

func BenchmarkTerms(b *testing.B) {
	const text = "So what I'd like to say about the plan, não é, is that 東京タワー was never on it."
	for b.Loop() {
		hearken.Terms(text)
	}
}
