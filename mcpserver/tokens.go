package mcpserver

import (
	"unicode/utf8"

	"github.com/hearken-dev/hearken"
)

// pageTokens bounds a page of a transcript, so that one call never fills a
// model's context.
const pageTokens = 8000

// Tokens are counted in thirds and never too low: an ASCII byte of JSON is a
// third of a token, any other character a whole one.
const (
	segmentThirds = 330 // a segment's JSON without its text, at its longest
	wordThirds    = 100 // a word's
)

// segmentTokens estimates what a segment adds to a page.
func segmentTokens(s *hearken.Segment) int {
	n := segmentThirds + tokenThirds(s.ID) + tokenThirds(s.Text) + tokenThirds(s.Original) + tokenThirds(s.Language)
	for i := range s.Words {
		n += wordThirds + tokenThirds(s.Words[i].Word)
	}
	return (n + 2) / 3
}

// tokenThirds estimates a string in JSON.
func tokenThirds(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			n += 2
		case r < ' ' || r == '<' || r == '>' || r == '&' || r == '\u2028' || r == '\u2029':
			n += 6 // \u003c
		case r < utf8.RuneSelf:
			n++
		default:
			n += 3
		}
	}
	return n
}
