package openai

import (
	"strings"
	"unicode/utf8"
)

// maxTokens bounds the vocabulary of a request. Whisper looks at the last 224
// tokens of a prompt.
const maxTokens = 200

// terms are those of a vocabulary that fit into a request, the first first,
// and how many do not.
func terms(vocabulary []string) (kept []string, dropped int) {
	seen := make(map[string]bool)
	left := maxTokens
	for _, term := range vocabulary {
		term = strings.Join(strings.Fields(term), " ")
		if term == "" || seen[term] || !utf8.ValidString(term) {
			continue
		}
		seen[term] = true
		n := tokens(term)
		if n > left {
			dropped++
			continue
		}
		left -= n
		kept = append(kept, term)
	}
	return kept, dropped
}

// tokens is about how many tokens a term has, and rarely less: names are cut
// into pieces of two letters or more, and of other scripts a letter is mostly
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

// prompt makes a vocabulary known to a model that has no other way to learn
// it: as words that might have come before, which it then spells the same way.
func prompt(terms []string) string {
	if len(terms) == 0 {
		return ""
	}
	return strings.Join(terms, ", ") + "."
}
