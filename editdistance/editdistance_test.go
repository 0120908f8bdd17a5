package editdistance

import (
	"strings"
	"testing"
)

func TestDistances(t *testing.T) {
	for _, tt := range []struct {
		a, b                 string
		levenshtein, damerau int
	}{
		{"", "", 0, 0},
		{"", "abc", 3, 3},
		{"abc", "", 3, 3},
		{"kitten", "sitting", 3, 3},
		{"form", "from", 2, 1},
		{"ab", "ba", 2, 1},
		{"Müller", "Miller", 1, 1},
		{"same", "same", 0, 0},
	} {
		a, b := []rune(tt.a), []rune(tt.b)
		if got := Levenshtein(a, b); got != tt.levenshtein {
			t.Errorf("Levenshtein(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.levenshtein)
		}
		if Within(a, b, tt.levenshtein-1) || !Within(a, b, tt.levenshtein) {
			t.Errorf("Within(%q, %q) is wrong at %d", tt.a, tt.b, tt.levenshtein)
		}
		if got := Damerau(a, b, 10); got != tt.damerau {
			t.Errorf("Damerau(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.damerau)
		}
	}
	if got := Levenshtein(strings.Fields("we meet on monday"), strings.Fields("we will meet monday")); got != 2 {
		t.Errorf("words: %d, want 2", got)
	}
}

func TestDamerau_Limit(t *testing.T) {
	for _, b := range []string{"wholly different", "xxxxxxx"} {
		if got := Damerau([]rune("kitten!"), []rune(b), 2); got != 3 {
			t.Errorf("%q: %d, want the limit and one", b, got)
		}
	}
}
