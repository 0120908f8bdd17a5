package main

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/test/speech"
)

const tail = `session: 0198c0de-0000-7000-8000-000000000001
transcript[3]{timestamp,source,status,segment,confidence,duration,language,text}:
  "2026-11-05T09:30:02+01:00",M,C,1,0.91,1.5,en,"Good morning, all."
  "2026-11-05T09:30:04+01:00",S,C,2,null,1,en,Hello
  "2026-11-05T09:30:06+01:00",M,U,2,null,0.4,en,we beg
next_since_line: 3
`

func TestTailRows(t *testing.T) {
	rows, next, err := tailRows([]byte(tail))
	want := []tailRow{{"M", "C", "Good morning, all."}, {"S", "C", "Hello"}, {"M", "U", "we beg"}}
	if diff := cmp.Diff(want, rows, cmp.AllowUnexported(tailRow{})); diff != "" || next != 3 || err != nil {
		t.Errorf("next %d, %v: %s", next, err, diff)
	}
	if _, _, err := tailRows([]byte("transcript[2]{a}:\n  1\n")); err == nil {
		t.Error("a table that lacks a row was read")
	}
}

func TestToJSON(t *testing.T) {
	got, err := toJSON(tail, 3)
	want := `{"session":"0198c0de-0000-7000-8000-000000000001","transcript":[` +
		`{"timestamp":"2026-11-05T09:30:02+01:00","source":"M","status":"C","segment":1,"confidence":0.91,"duration":1.5,"language":"en","text":"Good morning, all."},` +
		`{"timestamp":"2026-11-05T09:30:04+01:00","source":"S","status":"C","segment":2,"confidence":null,"duration":1,"language":"en","text":"Hello"},` +
		`{"timestamp":"2026-11-05T09:30:06+01:00","source":"M","status":"U","segment":2,"confidence":null,"duration":0.4,"language":"en","text":"we beg"}],"next_since_line":3}`
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v: %s", err, diff)
	}
	if _, err := toJSON(tail, 100); err == nil {
		t.Error("a tail that was cut was taken for a whole one")
	}
}

// A word's delay is from when it was over to the first row that has it.
func TestNoteRow(t *testing.T) {
	s := func(x float64) time.Duration { return time.Duration(math.Round(x*1000)) * time.Millisecond }
	said := spokenWords([]hearken.Segment{{Words: []hearken.Word{
		{Word: "We", EndTime: 1}, {Word: "can't", EndTime: 1.5}, {Word: "stay", EndTime: 2}, {Word: "here.", EndTime: 2.5},
	}}})
	noteRow(said, tailRow{"M", "U", "we can"}, s(1.7))
	noteRow(said, tailRow{"M", "U", "We can not say"}, s(2.2))
	noteRow(said, tailRow{"M", "U", "stay here for ever"}, s(2.05)) // not all of it was spoken by then
	noteRow(said, tailRow{"M", "C", "We can't stay, dear."}, s(3.4))
	var got []time.Duration
	for _, w := range said {
		got = append(got, w.shown, w.confirmed)
	}
	want := []time.Duration{s(1.7), s(3.4), s(1.7), s(3.4), s(2.2), s(3.4), s(2.05), s(3.4), 0, 0}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(durations{s(0.7), s(0.2), s(0.7), s(0.05)}, shownDelays(said)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(durations{s(0.9)}, confirmedDelays(said, []time.Duration{s(2.5), s(60)})); diff != "" {
		t.Error(diff)
	}
}

func TestMatchWords(t *testing.T) {
	said := strings.Fields("the dog saw the cat and the cat ran")
	for text, want := range map[string]map[int]int{
		"the cat":            {6: 0, 7: 1}, // the last of two
		"saw the cat and":    {2: 0, 3: 1, 4: 2, 5: 3},
		"the frog saw a cat": {0: 0, 1: 1, 2: 2, 3: 3, 4: 4},
		"a dog saw some":     {1: 1, 2: 2}, // what is misheard at an end may belong elsewhere
		"ran home":           {8: 0},
		"nothing of it":      {},
		"":                   {},
	} {
		if diff := cmp.Diff(want, matchWords(said, strings.Fields(text))); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestNewCall(t *testing.T) {
	var clips []*speech.Clip
	for _, n := range []int{1000, 2000, 3000} {
		clips = append(clips, &speech.Clip{Channels: [][]int16{make([]int16, n)}})
	}
	c := newCall(clips)
	quiet := speech.Samples(pause)
	if n := len(c[0].PCM); n != len(c[1].PCM) || n != 6000+4*quiet {
		t.Errorf("%d and %d samples", n, len(c[1].PCM))
	}
	if p := c[0].Parts; len(p) != 2 || p[1].Clip != clips[2] || p[1].From != 3000+3*quiet {
		t.Errorf("the microphone's parts: %+v", p)
	}
	if p := c[1].Parts; len(p) != 1 || p[0].From != 1000+2*quiet || p[0].To != 3000+2*quiet {
		t.Errorf("the far side's parts: %+v", p)
	}
}
