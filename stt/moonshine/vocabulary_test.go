package moonshine

import (
	"strings"
	"testing"
)

// frequent stands for the words that the tokenizer has whole.
func frequent(word string) bool {
	return strings.Contains(" the a zero hours cube are and we run on said ask to in her new is of our open deep mark at lane he here and ", " "+word+" ")
}

func TestVocabulary(t *testing.T) {
	terms := []string{"Kubernetes", "Hearken", "Ada Lovelace", "Zelo", "Ingrid Bergström", "pgx", "OpenAI", "Anouk", "Marc"}
	v := newVocabulary(terms, frequent)
	for _, tt := range []struct{ name, in, want string }{
		{"NothingToMend", "We run on zero hours.", "We run on zero hours."},
		{"OneLetter", "We run on Kubernetis.", "We run on Kubernetes."},
		{"SplitInThree", "Run the cube are netties, and ask.", "Run the Kubernetes, and ask."},
		{"Spelling", "Ask open ai about it", "Ask OpenAI about it"},
		{"Case", "hearken is new", "Hearken is new"},
		{"Possessive", "Harken's new open", "Hearken's new open"},
		{"TwoWords", "said Ada Lovelase, \"here\"", "said Ada Lovelace, \"here\""},
		{"Accents", "Ingrid Bergstrom said", "Ingrid Bergström said"},
		{"Sound", "ask Anuk", "ask Anouk"},
		{"EverydayWordStays", "zero", "zero"},
		{"EverydayWordOfTheSameSoundStays", "Mark said", "Mark said"},
		{"ShortTermNeedsEveryLetter", "pkx and PGX", "pkx and pgx"},
		{"NotAcrossAComma", "cube, are netties", "cube, are netties"},
		{"Empty", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := v.correct(tt.in); got != tt.want {
				t.Errorf("%q became %q, not %q", tt.in, got, tt.want)
			}
		})
	}
}

func FuzzVocabulary(f *testing.F) {
	f.Add("Kubernetes", "cube are netties, 世界 é")
	f.Fuzz(func(t *testing.T, term, text string) {
		v := newVocabulary([]string{term}, frequent)
		once := v.correct(text)
		if again := v.correct(once); again != once {
			t.Errorf("%q became %q and then %q", text, once, again)
		}
	})
}
