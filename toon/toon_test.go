package toon

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hearken-dev/hearken"
)

func TestEncode_Transcript(t *testing.T) {
	confidence := 0.954
	cet := time.FixedZone("", 3600)
	segments := []hearken.Segment{
		{Line: 1, Origin: "M", Status: "C", Text: "Hello world", StartTime: 1, EndTime: 3.5, Confidence: &confidence, Language: "en", Timestamp: time.Date(2024, 1, 15, 14, 30, 0, 0, cet)},
		{Line: 2, Origin: "S", Status: "C", Text: "Hej, där: \"42\"", EndTime: 3.1, Language: "sv", Timestamp: time.Date(2024, 1, 15, 14, 30, 5, 0, time.UTC)},
		{Line: 3, Origin: "E", Status: "N", Timestamp: time.Date(2024, 1, 15, 14, 30, 9, 0, cet)},
	}
	got := string(Encode(Object{{"session", "s-1"}, {"transcript", Transcript(segments)}, {"next", 4}}))
	want := `session: s-1
transcript[3]{timestamp,source,status,segment,confidence,duration,language,text}:
  "2024-01-15T14:30:00+01:00",M,C,1,0.95,2.5,en,Hello world
  "2024-01-15T14:30:05+00:00",S,C,2,null,3.1,sv,"Hej, där: \"42\""
  "2024-01-15T14:30:09+01:00",E,N,3,null,0,null,""
next: 4`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := string(Encode(Object{{"transcript", Transcript(nil)}})); got != "transcript: []" {
		t.Errorf("empty: %q", got)
	}
}

func TestEncode_Values(t *testing.T) {
	tests := map[string]any{
		"plain text": "plain text", `""`: "", `"true"`: "true", `"null"`: "null", `"5"`: "5", `"-1.5e+3"`: "-1.5e+3", `"05"`: "05",
		`"- item"`: "- item", `"# note"`: "# note", `" a"`: " a", `"a\tb"`: "a\tb", `"a:b"`: "a:b", `"[x]"`: "[x]", `"\u0001"`: "\x01",
		"a-b": "a-b", "1.2.3": "1.2.3", "5 apples": "5 apples", "e5": "e5", "1e": "1e", ".5": ".5", "é 日本": "é 日本",
		"0": math.Copysign(0, -1), "0.000001": 1e-6, "1e-7": 1e-7, "100000000000000000000": 1e20, "1e+21": 1e21, "0.1": 0.1, "null": math.NaN(), "true": true, "-3": -3,
	}
	for want, v := range tests {
		if got := string(appendValue(nil, v)); got != want {
			t.Errorf("%#v: %s, want %s", v, got, want)
		}
	}
}
