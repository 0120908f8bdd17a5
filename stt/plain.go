package stt

import (
	"strings"
	"unicode"
)

// Plain makes a server's words fit to be shown: one line, not long, no key.
func Plain(s, key string) string {
	if key != "" {
		s = strings.ReplaceAll(s, key, "[key]")
	}
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == unicode.ReplacementChar
	}), " ")
	const enough = 200
	if runes := []rune(s); len(runes) > enough {
		s = string(runes[:enough]) + "..."
	}
	return s
}
