package wer

import (
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"Mr. Hale said: “to-day, it's 1,200 metres!”": "mister hale said today its twelve hundred meters",
		"In 1847 and 1900 the 21st of May":            "in eighteen forty seven and nineteen hundred the twenty one of may",
		"I can't, won't & don't (ever) [laughs] um":   "i can not will not and do not ever",
		"They've 50% of 12345; 'tis grey.":            "they have fifty percent of twelve thousand three hundred forty five tis gray",
		"":                                            "",
	} {
		if got := strings.Join(Words(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestScore(t *testing.T) {
	for _, tt := range []struct {
		said, heard string
		want        Score
	}{
		{"a b c d", "a b c d", Score{0, 4}},
		{"a b c d", "a x c", Score{2, 4}},
		{"a b", "z a b y", Score{2, 2}},
		{"a b", "", Score{2, 2}},
		{"", "a", Score{1, 0}},
	} {
		if got := ScoreOf(tt.said, tt.heard); got != tt.want {
			t.Errorf("%q as %q: %v, want %v", tt.said, tt.heard, got, tt.want)
		}
	}
}
