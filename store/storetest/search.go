package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
)

func search(t *testing.T, store hearken.Store, q hearken.Query) []hearken.Hit {
	t.Helper()
	hits, err := store.Search(t.Context(), q)
	if err != nil {
		t.Fatalf("search %q: %v", q.Text, err)
	}
	return hits
}

// hitLines writes hits as session:line.
func hitLines(hits []hearken.Hit) string {
	var lines []string
	for _, h := range hits {
		lines = append(lines, fmt.Sprintf("%s:%d", strings.TrimLeft(h.Session[:8], "0"), h.Segment.Line))
	}
	return strings.Join(lines, " ")
}

var corpus = []string{
	"Hello, world! Don't panic.",                  // 1
	"The quick brown fox jumps over a lazy dog",   // 2
	"quick foxes and brown dogs",                  // 3
	"Não é um café, é uma PADARIA",                // 4
	"Привет, ещё один мир",                        // 5
	"今日は東京タワーに行きました。",                             // 6
	"京都と東京は違います",                                  // 7
	"สวัสดีชาวโลก",                                // 8
	"iPhone15を東京で買う予定 at 10:30",                   // 9
	"हिन्दी में नमस्ते दुनिया",                    // 10
	"한국어 음성 인식을 시험합니다",                            // 11
	"مرحبا بالعالم",                               // 12
	"well-known e-mail to bob@example.com",        // 13
	"AND OR NOT NEAR terms: \"quoted\" (x) ^y *z", // 14
	"100% of it; DROP TABLE segment; -- 1,234.5",  // 15
	"人人人",       // 16
	"O'Brien’s", // 17
}

var searchTests = []test{
	{"Found", func(t *testing.T, store hearken.Store) {
		saveTranscript(t, store, 1, corpus...)
		for query, want := range map[string]string{
			"hello": "1:1", "HELLO World": "1:1", "world hello": "1:1", "hello fox": "", "hell": "", "nothing": "",
			"dont": "1:1", "don't": "1:1", "don’t": "1:1", "obriens": "1:17", "o'brien's": "1:17",
			"quick brown": "1:3 1:2", `"quick brown"`: "1:2", `"brown quick"`: "", `"quick brown" dog`: "1:2",
			`"hello world" panic`: "1:1", `“quick brown”`: "1:2", `"quick brown`: "1:2",
			"fox*": "1:3 1:2", "fo*": "1:3 1:2", "qui* dog*": "1:3 1:2", `"lazy do*"`: "1:2", "*fox": "1:2",
			"cafe": "1:4", "café": "1:4", "cafe\u0301": "1:4", "CAFÉ": "1:4", "nao padaria": "1:4", `"é um cafe"`: "1:4",
			"привет": "1:5", "МИР еще": "1:5",
			"今": "1:6", "東": "1:9 1:7 1:6", "東京": "1:9 1:7 1:6", "東京タワー": "1:6", "京": "1:9 1:7 1:6", "京都": "1:7",
			"都": "1:7", "京東": "", "。": "!", "東京。": "1:9 1:7 1:6", "行きました": "1:6", "た": "1:6", "ワー": "1:6",
			"東京 違": "1:7", "人": "1:16", "人人": "1:16", "人人人": "1:16", "人人人人": "", "東京　買う": "1:9",
			"iphone15": "1:9", "iphone15を東京": "1:9", "iphone15 東京": "1:9", "iphone*": "1:9", "予定at": "1:9", "予定": "1:9",
			"โลก": "1:8", "ชาว": "1:8", "ส": "1:8", "สวัสดี": "1:8", "โลกชาว": "",
			"नमस्ते": "1:10", "हिन्दी": "1:10", "हिन": "", "हिन*": "1:10", "음성": "1:11", "인식": "", "인식*": "1:11", "مرحبا": "1:12",
			"e-mail": "1:13", "mail": "1:13", "bob@example.com": "1:13", "example": "1:13", "well known": "1:13",
			"AND": "1:14 1:3", "or not": "1:14", "NEAR": "1:14", "not(near": "1:14", "terms:quoted": "1:14", "terms : x": "1:14",
			`""quoted""`: "1:14", "^y": "1:14", "*z": "1:14", "-x": "1:14", "{x}": "1:14", "x:*": "1:14", "x & y | z !": "1:14", "x\\": "1:14",
			"%": "!", "_": "!", "'": "!", "''; DROP TABLE session": "", "DROP TABLE": "1:15", "100%": "1:15", "10": "1:9", "1,234.5": "1:15", "1234": "",
			"10:30": "1:9", "a": "1:2", "!x <-> y": "1:14",
			"": "!", "   ": "!", `""`: "!", "*": "!", "\x00": "!", "\xff": "!", "👍": "!", strings.Repeat("x ", 101): "!",
		} {
			hits, err := store.Search(t.Context(), hearken.Query{Text: query})
			if want == "!" {
				if hearken.CodeOf(err) != hearken.Invalid {
					t.Errorf("%q: error %v, hits %s", query, err, hitLines(hits))
				}
				continue
			}
			if err != nil {
				t.Errorf("%q: %v", query, err)
			}
			if got := hitLines(hits); got != want {
				t.Errorf("%q found %q, want %q", query, got, want)
			}
		}
	}},
	{"Hit", func(t *testing.T, store hearken.Store) {
		s := session(1)
		s.Title = "Breakfast"
		g := fullSegment(s, 7)
		save(t, store, s, g)
		g.Words = nil
		want := []hearken.Hit{{Session: s.ID, Title: "Breakfast", StartedAt: s.StartedAt, Segment: g}}
		for _, ranked := range []bool{false, true} {
			equal(t, want, search(t, store, hearken.Query{Text: "tudo", Ranked: ranked}))
		}
	}},
	{"OnlySpeech", func(t *testing.T, store hearken.Store) {
		s := session(1)
		event, noise, translation := segment(s, 1, "gap here"), segment(s, 2, "gap noise"), segment(s, 3, "gap translated")
		event.Origin, noise.Status, translation.Status = hearken.EventOrigin, hearken.NoSpeech, hearken.Translated
		save(t, store, s, event, noise, translation)
		equal(t, "1:3", hitLines(search(t, store, hearken.Query{Text: "gap"})))
	}},
	{"NewestFirst", func(t *testing.T, store hearken.Store) {
		// The older session is saved last, as can happen after a crash.
		saveTranscript(t, store, 3, "apple", "pear", "apple")
		saveTranscript(t, store, 2, "apple", "apple")
		long := session(1)
		late := segment(long, 2, "apple")
		late.Timestamp = noon.Add(time.Hour)
		save(t, store, long, segment(long, 1, "apple"), late)
		at := func(n, line int) time.Time { return segment(session(n), line, "").Timestamp }
		for _, tt := range []struct {
			query hearken.Query
			want  string
		}{
			{hearken.Query{}, "1:2 3:3 3:1 2:2 2:1 1:1"},
			{hearken.Query{Limit: 2}, "1:2 3:3"},
			{hearken.Query{Limit: 1 << 30}, "1:2 3:3 3:1 2:2 2:1 1:1"},
			{hearken.Query{Limit: -1}, "1:2 3:3 3:1 2:2 2:1 1:1"},
			{hearken.Query{Session: id(2)}, "2:2 2:1"},
			{hearken.Query{Session: id(1), Limit: 1}, "1:2"},
			{hearken.Query{Session: id(9)}, ""},
			{hearken.Query{Session: "' OR 1=1 --"}, ""},
			{hearken.Query{Since: at(2, 2)}, "1:2 3:3 3:1 2:2"},
			{hearken.Query{Since: at(2, 2).Add(1)}, "1:2 3:3 3:1"},
			{hearken.Query{Until: at(2, 2)}, "2:1 1:1"},
			{hearken.Query{Until: at(2, 2).Add(1)}, "2:2 2:1 1:1"},
			{hearken.Query{Since: at(2, 1), Until: at(3, 3)}, "3:1 2:2 2:1"},
			{hearken.Query{Since: at(2, 1), Until: at(3, 3), Session: id(3), Ranked: true}, "3:1"},
			{hearken.Query{Since: noon.Add(2 * time.Hour)}, ""},
		} {
			tt.query.Text = "apple"
			if got := hitLines(search(t, store, tt.query)); got != tt.want {
				t.Errorf("%+v found %q, want %q", tt.query, got, tt.want)
			}
		}
	}},
	{"SameTime", func(t *testing.T, store hearken.Store) {
		s := session(1)
		var all []hearken.Segment
		for line := range 5 {
			g := segment(s, line+1, "apple")
			g.Timestamp = noon
			all = append(all, g)
		}
		save(t, store, s, all...)
		equal(t, "1:5 1:4 1:3 1:2 1:1", hitLines(search(t, store, hearken.Query{Text: "apple"})))
	}},
	{"DefaultLimit", func(t *testing.T, store hearken.Store) {
		saveTranscript(t, store, 1, slices.Repeat([]string{"apple"}, 60)...)
		equal(t, 50, len(search(t, store, hearken.Query{Text: "apple"})))
	}},
	{"Ranked", func(t *testing.T, store hearken.Store) {
		best := saveTranscript(t, store, 1, "apple apple apple")
		saveTranscript(t, store, 2, "an apple", "apple apple", "one apple among many other things that were said")
		equal(t, "1:1 2:2 2:1 2:3", hitLines(search(t, store, hearken.Query{Text: "apple", Ranked: true})))
		equal(t, "1:1 2:2", hitLines(search(t, store, hearken.Query{Text: "apple", Ranked: true, Limit: 2})))
		// Beyond the depth not even the best hit is found.
		saveTranscript(t, store, 3, slices.Repeat([]string{"an apple a day"}, hearken.SearchDepth)...)
		hits := search(t, store, hearken.Query{Text: "apple", Ranked: true, Limit: 3})
		equal(t, "3:2000 3:1999 3:1998", strings.ReplaceAll(hitLines(hits), best.ID, ""))
	}},
	{"LikeReference", func(t *testing.T, store hearken.Store) {
		random := rand.New(rand.NewPCG(1, 2))
		pick := func(from []string, n int) string {
			var b strings.Builder
			for range n {
				b.WriteString(from[random.IntN(len(from))])
			}
			return b.String()
		}
		words := []string{"a", "ab", "abc", "é", "東", "京", "都", "ก", "ข", " ", " ", " ", "-", "'", "1"}
		var texts []string
		for range 300 {
			texts = append(texts, pick(words, 1+random.IntN(14)))
		}
		saveTranscript(t, store, 1, texts...)
		for range 300 {
			q := hearken.Query{Text: pick(append(words, `"`, `"`, "*"), 1+random.IntN(5)), Limit: 1000}
			clauses, err := q.Clauses()
			if err != nil {
				continue
			}
			var want []string
			for i, text := range slices.Backward(texts) {
				if hearken.ContainsAll(text, clauses) {
					want = append(want, fmt.Sprintf("1:%d", i+1))
				}
			}
			if got := hitLines(search(t, store, q)); got != strings.Join(want, " ") {
				t.Errorf("%q found %s, want %s", q.Text, got, want)
			}
		}
	}},
}
