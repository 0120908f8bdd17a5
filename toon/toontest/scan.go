package toontest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hearken-dev/hearken/safetext"
)

var (
	plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*$`)
	// A number with needless zeros in front, or with a plus, is text.
	number = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
)

// isField reports whether a line is a key with a value, and not a value alone.
func isField(s string) bool {
	if s[0] != '"' {
		return strings.Contains(s, ":")
	}
	_, rest, err := readQuoted(s)
	return err == nil && rest != "" && (rest[0] == ':' || rest[0] == '[')
}

// isRow reports whether a line at the depth of a table's rows is one: a colon
// before the first delimiter makes it a field.
func isRow(s string, delimiter byte) bool {
	colon, end := indexUnquoted(s, ':'), indexUnquoted(s, delimiter)
	return colon < 0 || end >= 0 && end < colon
}

// indexUnquoted is the index of the first c outside of quotes, or -1.
func indexUnquoted(s string, c byte) int {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case quoted && s[i] == '\\':
			i++
		case !quoted && s[i] == c:
			return i
		}
	}
	return -1
}

// readKey reads a key up to one of the given characters, with which rest begins.
func readKey(s, ends string) (key, rest string, err error) {
	if strings.HasPrefix(s, `"`) {
		key, rest, err = readQuoted(s)
	} else {
		i := strings.IndexAny(s, ends)
		if i < 0 {
			return "", "", fmt.Errorf("a key without an end")
		}
		key, rest = s[:i], s[i:]
		if !plainKey.MatchString(key) {
			return "", "", fmt.Errorf("key %q is not quoted", safetext.Clip(key, 40))
		}
	}
	if err == nil && (rest == "" || !strings.Contains(ends, rest[:1])) {
		err = fmt.Errorf("a key without an end")
	}
	return key, rest, err
}

// readRow reads values with delimiters between, without the spaces around them.
func readRow(s string, delimiter byte) ([]any, error) {
	var cells []any
	for {
		end := indexUnquoted(s, delimiter)
		cell := s
		if end >= 0 {
			cell = s[:end]
		}
		v, err := readCell(strings.Trim(cell, " "))
		if err != nil {
			return nil, err
		}
		cells = append(cells, v)
		if end < 0 {
			return cells, nil
		}
		s = s[end+1:]
	}
}

// readCell reads one plain value.
func readCell(s string) (any, error) {
	switch s {
	case "null":
		return nil, nil
	case "true":
		return true, nil
	case "false":
		return false, nil
	case "":
		return "", nil
	}
	if s[0] == '"' {
		text, rest, err := readQuoted(s)
		if err == nil && rest != "" {
			err = fmt.Errorf("%q after a quoted value", safetext.Clip(rest, 40))
		}
		return text, err
	}
	if number.MatchString(s) {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return nil, fmt.Errorf("number %q", safetext.Clip(s, 40))
		}
		if f == 0 {
			return 0.0, nil // not a negative one
		}
		return f, nil
	}
	return s, nil
}

// readQuoted reads a quoted string. The rest is what follows it.
func readQuoted(s string) (text, rest string, err error) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), s[i+1:], nil
		case c != '\\':
			b.WriteByte(c)
		case i+1 == len(s):
			return "", "", fmt.Errorf("a string without an end")
		default:
			i++
			switch s[i] {
			case '"', '\\':
				b.WriteByte(s[i])
			case 'n':
				b.WriteByte('\n')
			case 'r':
				b.WriteByte('\r')
			case 't':
				b.WriteByte('\t')
			case 'u':
				if i+4 >= len(s) {
					return "", "", fmt.Errorf("a string without an end")
				}
				n, err := strconv.ParseUint(s[i+1:i+5], 16, 16)
				if err != nil || !utf8.ValidRune(rune(n)) {
					return "", "", fmt.Errorf("escape %q", s[i-1:i+5])
				}
				b.WriteRune(rune(n))
				i += 4
			default:
				return "", "", fmt.Errorf("escape %q", s[i-1:i+1])
			}
		}
	}
	return "", "", fmt.Errorf("a string without an end")
}
