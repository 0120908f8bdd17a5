package moonshine

import (
	"math"
	"testing"

	"github.com/hearken-dev/hearken"
)

func TestWords(t *testing.T) {
	// A second of speech, a second of nothing, a second of speech.
	n := hearken.SampleRate / window
	u := &transcription{pos: 16000, first: 16000, last: 16000 + int64(3*n)*window}
	for i := range 3 * n {
		u.speech = append(u.speech, i < n || i >= 2*n)
	}
	got := u.estimateWords("abc def")
	second := float64(n) * window / hearken.SampleRate
	want := []hearken.Word{
		{Word: "abc", StartTime: 1, EndTime: 1 + second},
		{Word: "def", StartTime: 1 + 2*second, EndTime: 1 + 3*second},
	}
	if len(got) != 2 {
		t.Fatalf("%d words", len(got))
	}
	for i := range want {
		if got[i].Word != want[i].Word || math.Abs(got[i].StartTime-want[i].StartTime) > 1e-9 || math.Abs(got[i].EndTime-want[i].EndTime) > 1e-9 {
			t.Errorf("word %d is %+v, not %+v", i, got[i], want[i])
		}
	}
	if got := u.estimateWords(""); got != nil {
		t.Errorf("words of nothing: %v", got)
	}
	if got := (&transcription{pos: 0, first: 0, last: 16000}).estimateWords("one two"); got[1].EndTime != 1 {
		t.Errorf("without any window: %v", got)
	}
}
