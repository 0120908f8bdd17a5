package moonshine

import (
	"strings"
	"testing"
)

// Somebody speaks for so long that the utterance is cut well before the newest
// sound, after a passage that the tape might have let go of. Every word is
// heard once.
func TestStream_CutFarBack(t *testing.T) {
	words := func(n int) []int {
		all := make([]int, n)
		for i := range all {
			all[i] = i % lastWord
		}
		return all
	}
	for first := 10; first < 20; first++ {
		sentences := [][]int{words(first), words(24)}
		p := fakeProvider(t, &fakeModel{}, Config{Cores: 1})
		var texts []string
		for _, e := range transcribeStream(t, p, say(0.4, sentences...)) {
			texts = append(texts, strings.Fields(e.Text)...)
		}
		if got, want := strings.Join(texts, " "), spoken(sentences...); got != want {
			t.Errorf("after %d words: heard %q, said was %q", first, got, want)
		}
	}
}
