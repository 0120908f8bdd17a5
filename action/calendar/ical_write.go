package calendar

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hearken-dev/hearken/safetext"
)

// The layouts in which iCalendar writes a time.
const (
	utcLayout   = "20060102T150405Z"
	localLayout = "20060102T150405"
)

// An icalWriter writes iCalendar content lines (RFC 5545, section 3.1).
type icalWriter struct{ b strings.Builder }

// line writes one property. The name includes its parameters, and the value is
// already escaped: see text.
func (w *icalWriter) line(name, value string) {
	rest := name + ":" + value
	// A line has at most 75 octets, including the space that continues it. No
	// character is cut.
	for width := 75; len(rest) > width; width = 74 {
		cut := width
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

// text writes a text property, unless it is empty.
func (w *icalWriter) text(name, value string) {
	if value = cleanText(value); value != "" {
		w.line(name, escaper.Replace(value))
	}
}

// lineText writes a text property on one line, unless it is empty.
func (w *icalWriter) lineText(name, value string) { w.text(name, safetext.Line(value)) }

// utc writes a time property in UTC.
func (w *icalWriter) utc(name string, t time.Time) { w.line(name, t.UTC().Format(utcLayout)) }

var escaper = strings.NewReplacer(`\`, `\\`, ";", `\;`, ",", `\,`, "\n", `\n`)

// cleanText removes what iCalendar forbids, such as control characters, and
// what makes a text read differently from what it is.
func cleanText(s string) string { return strings.TrimSpace(safetext.Clean(s)) }

// shortLine is s on one line of at most n characters.
func shortLine(s string, n int) string {
	r := []rune(safetext.Line(s))
	if len(r) <= n {
		return string(r)
	}
	return strings.TrimSpace(string(r[:n-1])) + "…"
}
