package openai

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/hearken-dev/hearken/stt"
)

// maxTokens limits the vocabulary of a request: Whisper reads the last 224
// tokens of a prompt.
const maxTokens = 200

// terms are the first of a vocabulary, as many as fit into a request, and how
// many do not.
func terms(vocabulary []string) (terms []string, dropped int) {
	return stt.FitVocabulary(vocabulary, math.MaxInt, maxTokens, tokens)
}

// tokens is about how many tokens a term has, and rarely less: names are split
// into pieces of two letters or more, and in other scripts a letter is mostly
// one.
func tokens(term string) int {
	plain, other := 0, 0
	for _, r := range term {
		if r < utf8.RuneSelf {
			plain++
		} else {
			other++
		}
	}
	return 2 + plain/3 + other
}

// prompt gives a vocabulary to a model that takes none: as words that might
// have come before, which it then spells the same way.
func prompt(terms []string) string {
	if len(terms) == 0 {
		return ""
	}
	return strings.Join(terms, ", ") + "."
}
