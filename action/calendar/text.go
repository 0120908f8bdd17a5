package calendar

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hearken-dev/hearken/safetext"
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
func (w *writer) title(name, value string) { w.text(name, safetext.Line(value)) }

// utc writes a property whose value is an instant.
func (w *writer) utc(name string, t time.Time) { w.line(name, t.UTC().Format(utcForm)) }

var escaper = strings.NewReplacer(`\`, `\\`, ";", `\;`, ",", `\,`, "\n", `\n`)

// plain is s as a calendar may show it. Control characters are not allowed in
// iCalendar, and directional ones let a text read differently from what it is.
func plain(s string) string { return strings.TrimSpace(safetext.Clean(s)) }

// short is s on one line and no longer than a line in somebody's calendar.
func short(s string, most int) string {
	r := []rune(safetext.Line(s))
	if len(r) <= most {
		return string(r)
	}
	return strings.TrimSpace(string(r[:most-1])) + "…"
}
