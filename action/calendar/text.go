package calendar

import (
	"strings"
	"time"
	"unicode/utf8"
)

// The forms in which iCalendar writes a time.
const (
	utcForm   = "20060102T150405Z"
	localForm = "20060102T150405"
)

// A writer puts iCalendar content lines together (RFC 5545, section 3.1).
type writer struct{ b strings.Builder }

// line writes one property. The name holds its parameters, the value is in its
// final form: see text.
func (w *writer) line(name, value string) {
	rest := name + ":" + value
	// A line has at most 75 octets, of which the space that continues it is
	// one. No character is cut.
	for room := 75; len(rest) > room; room = 74 {
		cut := room
		for !utf8.RuneStart(rest[cut]) {
			cut--
		}
		w.b.WriteString(rest[:cut])
		w.b.WriteString("\r\n ")
		rest = rest[cut:]
	}
	w.b.WriteString(rest)
	w.b.WriteString("\r\n")
}

// text writes a property whose value is text, unless it is empty.
func (w *writer) text(name, value string) {
	if value = plain(value); value != "" {
		w.line(name, escaper.Replace(value))
	}
}

// title writes a property whose value is text on one line, unless it is empty.
func (w *writer) title(name, value string) { w.text(name, oneLine(value)) }

// utc writes a property whose value is an instant.
func (w *writer) utc(name string, t time.Time) { w.line(name, t.UTC().Format(utcForm)) }

var escaper = strings.NewReplacer(`\`, `\\`, ";", `\;`, ",", `\,`, "\n", `\n`)

// plain is s as a calendar may show it: valid UTF-8, its lines ended by \n, and
// without the characters that are not seen but change what is seen. Control
// characters are not allowed in iCalendar, and the directional ones let a text
// read differently from what it is.
func plain(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n").Replace(strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < ' ', r >= 0x7F && r < 0xA0, r == '\uFEFF':
			return -1
		case r == '\u061C', r == '\u200E', r == '\u200F', r >= '\u202A' && r <= '\u202E', r >= '\u2066' && r <= '\u2069':
			return -1
		}
		return r
	}, s)
	return strings.TrimSpace(s)
}

// oneLine is s on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(plain(s)), " ") }

// short is s on one line and no longer than a line in somebody's calendar.
func short(s string, most int) string {
	r := []rune(oneLine(s))
	if len(r) <= most {
		return string(r)
	}
	return strings.TrimSpace(string(r[:most-1])) + "…"
}
