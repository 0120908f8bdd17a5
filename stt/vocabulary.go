package stt

import (
	"strings"
	"unicode/utf8"
)

// FitVocabulary returns the first terms of a vocabulary, as many as a server
// takes, and how many it does not take. The function counts a term's tokens.
func FitVocabulary(vocabulary []string, maxTerms, maxTokens int, tokens func(term string) int) (terms []string, dropped int) {
	seen := make(map[string]bool)
	for _, term := range vocabulary {
		term = strings.Join(strings.Fields(term), " ")
		if term == "" || seen[term] || !utf8.ValidString(term) {
			continue
		}
		seen[term] = true
		n := tokens(term)
		if n > maxTokens || len(terms) == maxTerms {
			dropped++
			continue
		}
		maxTokens -= n
		terms = append(terms, term)
	}
	return terms, dropped
}
