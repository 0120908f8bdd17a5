package main

import (
	"strings"
	"testing"
)

func TestNormal(t *testing.T) {
	for text, want := range map[string]string{
		"Mr. Hale said: “to-day, it's 1,200 metres!”": "mister hale said today its twelve hundred meters",
		"In 1847 and 1900 the 21st of May":            "in eighteen forty seven and nineteen hundred the twenty one of may",
		"I can't, won't & don't (ever) [laughs] um":   "i can not will not and do not ever",
		"They've 50% of 12345; 'tis grey.":            "they have fifty percent of twelve thousand three hundred forty five tis gray",
		"":                                            "",
	} {
		if got := strings.Join(normal(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestScore(t *testing.T) {
	for _, tt := range []struct {
		said, heard string
		want        score
	}{
		{"a b c d", "a b c d", score{0, 4}},
		{"a b c d", "a x c", score{2, 4}},
		{"a b", "z a b y", score{2, 2}},
		{"a b", "", score{2, 2}},
		{"", "a", score{1, 0}},
	} {
		if got := scoreOf(tt.said, tt.heard); got != tt.want {
			t.Errorf("%q as %q: %v, want %v", tt.said, tt.heard, got, tt.want)
		}
	}
}
