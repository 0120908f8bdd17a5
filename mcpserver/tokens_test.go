package mcpserver

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/hearken-dev/hearken"
)

// What a page is cut by must never be less than what its JSON costs.
func TestSegmentTokens_AreNeverTooFew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seconds := rapid.Float64Range(0, 359999.999)
		share := rapid.Ptr(rapid.Float64Range(0, 1), true)
		speaker := rapid.Ptr(rapid.IntRange(0, 99), true)
		s := hearken.Segment{
			ID: rapid.StringMatching(`[0-9a-f-]{1,45}`).Draw(t, "id"), Line: rapid.IntRange(1, 9_999_999).Draw(t, "line"),
			Origin: hearken.System, Status: hearken.Confirmed, Text: rapid.String().Draw(t, "text"),
			StartTime: seconds.Draw(t, "start"), EndTime: seconds.Draw(t, "end"), Confidence: share.Draw(t, "confidence"),
			Speaker: speaker.Draw(t, "speaker"), Language: "zh-Hant-TW", Timestamp: time.Date(2026, 11, 15, 1, 2, 3, 999_999_999, time.FixedZone("x", -3600*9)),
			Echo: rapid.Bool().Draw(t, "echo"), Original: rapid.String().Draw(t, "original"), Estimated: true,
		}
		for range rapid.IntRange(0, 5).Draw(t, "words") {
			s.Words = append(s.Words, hearken.Word{Word: rapid.String().Draw(t, "word"), StartTime: roundToMillis(seconds.Draw(t, "from")), EndTime: roundToMillis(seconds.Draw(t, "to")), Speaker: speaker.Draw(t, "who")})
		}
		out := roundSegments([]hearken.Segment{s})
		data, err := json.Marshal(out[0])
		if err != nil {
			t.Fatal(err)
		}
		if got, want := segmentTokens(&out[0]), Tokens(string(data)); got < want {
			t.Fatalf("estimated %d tokens for %d: %s", got, want, data)
		}
	})
}

func TestFitting(t *testing.T) {
	long := hearken.Segment{Text: strings.Repeat("a", 3*pageTokens)}
	if n := countFitting([]hearken.Segment{long, long}); n != 1 {
		t.Errorf("%d segments longer than a page on one page, want 1", n)
	}
	// An ordinary page of fifty is never cut.
	ordinary := make([]hearken.Segment, 50)
	for i := range ordinary {
		ordinary[i] = hearken.Segment{ID: "0f8fad5b-d9cb-469f-a165-70867728950e", Text: strings.Repeat("word ", 20), Language: "en"}
	}
	if n := countFitting(ordinary); n != 50 {
		t.Errorf("%d of 50 ordinary segments fit on a page", n)
	}
	if n := countFitting(nil); n != 0 {
		t.Errorf("%d of no segments fit", n)
	}
}

func TestSnippet(t *testing.T) {
	filler := strings.Repeat("lorem ipsum ", 100)
	for _, tt := range []struct{ name, text, query, want string }{
		{"Short", "Nothing to cut", "cut", "Nothing to cut"},
		{"InTheMiddle", filler + "the Zebra crossed" + filler, "zebra", "the Zebra crossed"},
		{"AtTheEnd", filler + "zebra", "zebra", "zebra"},
		{"Japanese", strings.Repeat("あ", 900) + "会議の予定" + strings.Repeat("い", 900), "会議", "会議の予定"},
		{"LowerCaseIsLonger", strings.Repeat("İ", 500) + " zebra " + filler, "zebra", "zebra"},
		{"NotLiterally", filler + "don't " + filler, "dont", "lorem"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := snippet(tt.text, hearken.Clauses(tt.query))
			if !strings.Contains(got, tt.want) {
				t.Errorf("%q lacks %q", got, tt.want)
			}
			if n := utf8.RuneCountInString(got); n > snippetLength+2 {
				t.Errorf("%d characters", n)
			}
		})
	}
}

func TestMoment(t *testing.T) {
	for text, want := range map[string]time.Time{
		"2026-11-05T09:30:00Z":      time.Date(2026, 11, 5, 9, 30, 0, 0, time.UTC),
		"2026-11-05T09:30:00+02:00": time.Date(2026, 11, 5, 7, 30, 0, 0, time.UTC),
		"2026-11-05":                time.Date(2026, 11, 5, 0, 0, 0, 0, time.Local),
		"2026-11-05 09:30":          time.Date(2026, 11, 5, 9, 30, 0, 0, time.Local),
		"":                          {},
	} {
		if got, err := parseTime("since", text); err != nil || !got.Equal(want) {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	if got, err := parseTime("since", "2h"); err != nil || time.Since(got) < 2*time.Hour {
		t.Errorf("2h: %v, %v", got, err)
	}
	for _, text := range []string{"yesterday", "h", "-2h", "5", "2026-13-01", "99999999d"} {
		if _, err := parseTime("since", text); hearken.CodeOf(err) != hearken.Invalid {
			t.Errorf("%q: %v, want an error", text, err)
		}
	}
	if _, _, err := parseTimeRange("2026-11-05", "2026-11-04"); hearken.CodeOf(err) != hearken.Invalid {
		t.Errorf("a span that ends before it begins: %v", err)
	}
}
