package storetest

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
)

// fullSegment has a value in every field, which no real segment has.
func fullSegment(s *hearken.Session, line int) hearken.Segment {
	g := segment(s, line, "Oi, tudo bem?")
	g.Origin, g.Status = hearken.System, hearken.Translated
	g.Confidence, g.Speaker = new(0.87654321), new(0)
	g.StartTime, g.EndTime = 0.1+0.2, math.Pi*1e4
	g.IsFinal, g.Echo, g.Durable, g.Estimated = true, true, false, true
	g.Original, g.Event = "Oi, todo bem?", hearken.EventFilled
	g.Words = []hearken.Word{
		{Word: "Oi,", StartTime: 0.3, EndTime: 0.4, Confidence: new(1.0), Speaker: new(2)},
		{Word: "tudo", StartTime: 0.5, EndTime: 0.6, Confidence: new(0.0)},
		{Word: "bem?", StartTime: 0.7, EndTime: 0.9},
	}
	return g
}

var segmentTests = []test{
	{"Saved", func(t *testing.T, store hearken.Store) {
		s := session(1)
		event := hearken.Segment{Line: 2, Origin: hearken.EventOrigin, Status: hearken.NoSpeech, Event: hearken.EventGap}
		want := []hearken.Segment{fullSegment(s, 1), event}
		full := want[0]
		full.Durable, full.Speaker = true, new(1)
		wantFull(t, reflect.ValueOf(full), "segment")
		save(t, store, s, want...)
		equal(t, want, segments(t, store, s.ID, 1, 10, true))
		want[0].Words = nil
		equal(t, want, segments(t, store, s.ID, 1, 10, false))
	}},
	{"Pages", func(t *testing.T, store hearken.Store) {
		s := saveTranscript(t, store, 1, strings.Fields("a b c d e f g h i j")...)
		saveTranscript(t, store, 2, "of another session")
		for _, tt := range []struct {
			line, limit int
			want        string
		}{
			{1, 3, "1 2 3"}, {4, 3, "4 5 6"}, {9, 3, "9 10"}, {11, 3, ""}, {1 << 30, 3, ""},
			{0, 2, "1 2"}, {-5, 2, "1 2"}, {1, 0, ""}, {1, -1, ""}, {8, 1 << 30, "8 9 10"},
		} {
			if got := lines(segments(t, store, s.ID, tt.line, tt.limit, false)); got != tt.want {
				t.Errorf("from %d, %d of them: %q, want %q", tt.line, tt.limit, got, tt.want)
			}
		}
		empty := session(3)
		save(t, store, empty)
		equal(t, "", lines(segments(t, store, empty.ID, 1, 10, true)))
	}},
	{"SavedTwice", func(t *testing.T, store hearken.Store) {
		s := saveTranscript(t, store, 1, "one", "two", "three")
		changed := segment(s, 2, "another text")
		save(t, store, s, changed, segment(s, 3, "three"), segment(s, 4, "four"), segment(s, 4, "four again"))
		got := segments(t, store, s.ID, 1, 10, false)
		equal(t, []hearken.Segment{segment(s, 1, "one"), segment(s, 2, "two"), segment(s, 3, "three"), segment(s, 4, "four")}, got)
		for query, want := range map[string]int{"two": 1, "another": 0, "four": 1, "again": 0} {
			equal(t, want, len(search(t, store, hearken.Query{Text: query})))
		}
	}},
	{"OutOfOrder", func(t *testing.T, store hearken.Store) {
		s := session(1)
		save(t, store, s, segment(s, 5, "five"), segment(s, 2, "two"))
		save(t, store, s, segment(s, 4, "four"), segment(s, 1, "one"), segment(s, 100, "hundred"))
		equal(t, "1 2 4 5 100", lines(segments(t, store, s.ID, 1, 10, false)))
		equal(t, "4 5", lines(segments(t, store, s.ID, 3, 2, false)))
	}},
	{"AllOrNothing", func(t *testing.T, store hearken.Store) {
		s := saveTranscript(t, store, 1, "one")
		changed := *s
		changed.Title = "A title"
		err := store.Save(t.Context(), &changed, []hearken.Segment{segment(s, 2, "two"), segment(s, 0, "zero")})
		wantCode(t, err, hearken.Invalid)
		got, err := store.Session(t.Context(), s.ID)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, s, got)
		equal(t, "1", lines(segments(t, store, s.ID, 1, 10, false)))
		equal(t, 0, len(search(t, store, hearken.Query{Text: "two"})))
	}},
	{"AnyText", func(t *testing.T, store hearken.Store) {
		s := session(1)
		for i, text := range []string{
			"", " ", "\n\t\r", `"'\; DROP TABLE session; --`, "日本語 ไทย हिन्दी العربية", "👩‍👩‍👧‍👦 \U0010FFFF",
			"e\u0301 and \u00e9 stay apart", "{\"json\": true}\n{}", "<b>&amp;</b>", "\u2028\u2029\ufeff",
		} {
			g := segment(s, i+1, text)
			g.Original = text
			g.Words = []hearken.Word{{Word: text}}
			save(t, store, s, g)
			equal(t, []hearken.Segment{g}, segments(t, store, s.ID, i+1, 1, true))
		}
	}},
	{"NULBytes", func(t *testing.T, store hearken.Store) {
		s := session(1)
		g := segment(s, 1, "before\x00after")
		g.Words = []hearken.Word{{Word: "\x00"}}
		s.Title = "nul\x00"
		save(t, store, s, g)
		got := segments(t, store, s.ID, 1, 1, true)
		// A store that cannot keep it writes a replacement character.
		if text := strings.ReplaceAll(got[0].Text, "\x00", "\ufffd"); text != "before\ufffdafter" {
			t.Errorf("got %q", got[0].Text)
		}
		equal(t, 1, len(search(t, store, hearken.Query{Text: "after"})))
	}},
	{"InvalidUTF8", func(t *testing.T, store hearken.Store) {
		s := session(1)
		g := segment(s, 1, "before\xff\xfeafter")
		g.Words = []hearken.Word{{Word: "\xc3"}}
		save(t, store, s, g)
		equal(t, 1, len(segments(t, store, s.ID, 1, 1, true)))
		equal(t, 1, len(search(t, store, hearken.Query{Text: "after"})))
	}},
	{"LargeText", func(t *testing.T, store hearken.Store) {
		s := session(1)
		long := strings.Repeat("many different words follow each other ", 30_000) + "until the needle appears"
		word := strings.Repeat("長", 50_000) + strings.Repeat("x", 100_000)
		g := segment(s, 1, long)
		for i := range 20_000 {
			g.Words = append(g.Words, hearken.Word{Word: "word", StartTime: float64(i)})
		}
		want := []hearken.Segment{g, segment(s, 2, word)}
		save(t, store, s, want...)
		equal(t, want, segments(t, store, s.ID, 1, 10, true))
		for query, want := range map[string]int{
			"needle": 1, `"the needle appears"`: 1, `"appears needle"`: 0, `"other until"`: 1, "長長長": 1, "xxx*": 1,
		} {
			equal(t, want, len(search(t, store, hearken.Query{Text: query})))
		}
	}},
	{"Times", func(t *testing.T, store hearken.Store) {
		s := session(1)
		for i, at := range []time.Time{
			{}, noon.Add(789), time.Unix(0, 0), time.Date(1600, 1, 1, 0, 0, 0, 1000, time.UTC), time.Date(2999, 12, 31, 23, 59, 59, 999999000, time.UTC),
			noon.In(time.FixedZone("", -3*3600)),
		} {
			g := segment(s, i+1, "a")
			g.Timestamp = at
			save(t, store, s, g)
			if got, want := segments(t, store, s.ID, i+1, 1, false)[0].Timestamp, at.Truncate(time.Microsecond).UTC(); got != want {
				t.Errorf("said at %v, want %v", got, want)
			}
		}
	}},
}
