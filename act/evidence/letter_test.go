package evidence

import (
	"math"
	"strings"
	"testing"
)

// drawnAs writes "boat" in letters that begin at first.
func drawnAs(first rune) string {
	return strings.Map(func(r rune) rune { return first + r - 'a' }, "boat")
}

// TestFinder_Drawn has an agent write what was said in letters that only look
// like letters: it stays the words of whoever said them.
func TestFinder_Drawn(t *testing.T) {
	for name, boat := range map[string]string{
		"Squares":      drawnAs('\U0001F130'),
		"BlackSquares": drawnAs('\U0001F170'),
		"BlackCircles": drawnAs('\U0001F150'),
		"Circles":      drawnAs('ⓐ'),
		"FullWidth":    drawnAs('ａ'),
		"Bold":         drawnAs('\U0001D41A'),
		"Flags":        strings.Join(strings.Split(drawnAs('\U0001F1E6'), ""), "\u200b"),
		"Braille":      "⠃⠕⠁⠞",
		"Above":        "b\u0366\u0363\u036d",
		"Enclosed":     "b\u20deo\u20dea\u20det\u20de",
		"Accents":      "b\u0301o\u0302a\u0308t",
	} {
		t.Run(name, func(t *testing.T) {
			for line, want := range map[string]string{"M 1-4 The boat is sold": "M", "S 1-4 The boat is sold": "S"} {
				got := talk(1, line).find(t, Query{Args: []Arg{text(boat)}})[0]
				if string(got.Source) != want || got.Coverage != 1 {
					t.Errorf("%s of %q: %+v", boat, line, got)
				}
			}
		})
	}
	// Letters of other scripts are other letters, but catch the far side.
	for _, boat := range []string{"bоаt", "ʙᴏᴀᴛ"} {
		if got := talk(1, "M 1-4 The boat is sold").find(t, Query{Args: []Arg{text(boat)}})[0]; got.Source != nobody {
			t.Errorf("%s: %+v", boat, got)
		}
		if got := talk(1, "S 1-4 The boat is sold").find(t, Query{Args: []Arg{text(boat)}})[0]; got.Source != theirs || got.Coverage != 1 {
			t.Errorf("%s: %+v", boat, got)
		}
	}
}

// TestFinder_Unreadable has texts of which a part cannot be said.
func TestFinder_Unreadable(t *testing.T) {
	for _, tt := range []struct {
		text  string
		cover float64 // 0 for nobody
	}{
		{"The boat is sold 🙂", 0.8},
		{"The boat is sold 👩🏽\u200d🔧❤\ufe0f", 0.8},
		{"The boat is sold ⠼⠿", 0.8},
		{"The boat is sold \uE040\uE041", 0.8},
		{"The boat is sold \U0001FAE9", 0.8}, // newer than the tables
		{"The boat is sold \U000E006E\U000E006F\U000E0074", 0.8},
		{"The boat is sold.", 1},
		{"The boat is s\u0336o\u0336l\u0336d\u0336", 0.75},
		{"The boat is sol\u1df1d", 0.75},
		{"🚤💰", 0},
		{"⠼⠿⠼", 0},
		{"\uE040", 0},
		{"", 0},
		{"!?", 0},
	} {
		got := talk(1, "M 1-4 The boat is sold").find(t, Query{Args: []Arg{text(tt.text)}})[0]
		if (got.Source == nobody) != (tt.cover == 0) || math.Abs(got.Coverage-tt.cover) > 1e-9 {
			t.Errorf("%q: %+v", tt.text, got)
		}
	}
	got := talk(1, "M 1-4 Tell Anna that the boat is sold").find(t, Query{Args: []Arg{to("anna@hub.example", "Anna 🌸")}})[0]
	if got.Source != mine {
		t.Errorf("a name with a flower: %+v", got)
	}
	got = talk(1, "M 1-4 Tell bob \uE040 hub dot example").find(t, Query{Args: []Arg{to("bob@hub.example")}})[0]
	if got.Source != nobody {
		t.Errorf("a private character as a mark: %+v", got)
	}
}

// Small words that were not said count too.
func TestFinder_Coverage(t *testing.T) {
	for _, tt := range []struct {
		line, text string
		cover      float64
	}{
		{"M 1-4 Bob, lunch!", "Lunch is on me", 0.25},
		{"S 1-4 Bob, lunch!", "Lunch is on me", 0.25},
		{"M 1-4 Je viens", "Je ne viens pas", 0},
		{"M 1-4 Je viens demain matin", "Je ne viens pas demain matin", 4.0 / 6},
		{"M 1-4 Anna Lena kommt", "Anna-Lena kommt", 1},
		{"M 1-4 five boats", "❺ boats", 1},
		{"M 1-4 We met in the old garden", "The garden, the garden", 1},
	} {
		got := talk(1, tt.line).find(t, Query{Args: []Arg{text(tt.text)}})[0]
		if math.Abs(got.Coverage-tt.cover) > 1e-9 {
			t.Errorf("%q: %+v", tt.text, got)
		}
	}
}
