package pscribe

import (
	"encoding/json"
	"iter"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
)

// columns are those of a row, in their order.
const columns = "timestamp,source,status,segment,confidence,duration,language,text"

// A record is one line of what the program printed: an entry, structure such
// as a header, or else something that is passed on as it is.
type record struct {
	kind    kind
	session string // that the line names, if any
	entry   hearken.Segment
	raw     string
}

type kind int

const (
	isRaw kind = iota
	isEntry
	isHeader    // the head of a table
	isSeparator // between two places that grep found
)

// readLines reads every line that is not blank.
func readLines(text string) iter.Seq[record] {
	return func(yield func(record) bool) {
		for line := range strings.Lines(text) {
			if strings.TrimSpace(line) != "" && !yield(readLine(strings.TrimRight(line, "\r\n"))) {
				return
			}
		}
	}
}

func readLine(line string) record {
	row := strings.TrimSpace(line)
	switch {
	case row == "--":
		return record{kind: isSeparator}
	case isTableHead(row):
		return record{kind: isHeader}
	}
	if entry, ok := readRow(row); ok {
		return record{kind: isEntry, entry: entry}
	}
	if session, entry, ok := readPrefixed(row); ok {
		return record{kind: isEntry, session: session, entry: entry}
	}
	return record{raw: line, session: headSession(row)}
}

// hasRows reports whether the program printed any entry.
func hasRows(text string) bool {
	for r := range readLines(text) {
		if r.kind == isEntry {
			return true
		}
	}
	return false
}

// isTableHead recognises the columns alone, with the name of the table as
// ParrotScribe writes it, and with the length that TOON wants; and an empty
// table.
func isTableHead(row string) bool {
	if row == columns {
		return true
	}
	rest, ok := strings.CutPrefix(row, "transcript")
	if !ok {
		return false
	}
	if length, ok := strings.CutPrefix(rest, "["); ok {
		length, rest, ok = strings.Cut(length, "]")
		if _, err := strconv.ParseUint(length, 10, 32); err != nil || !ok {
			return false
		}
	}
	return rest == "{"+columns+"}:" || rest == ": []" || rest == ":"
}

// readPrefixed reads a row behind the session it was found in, as grep prints
// it: with a colon, or with a dash where it stands around a match.
func readPrefixed(line string) (session string, entry hearken.Segment, ok bool) {
	end := strings.IndexByte(line, ',')
	for i := 1; i < min(end, maxID+2); i++ {
		if line[i] != ':' && line[i] != '-' {
			continue
		}
		session := strings.Trim(line[:i], ` "`)
		if entry, ok := readRow(line[i+1:]); ok && checkSession(session) == nil {
			return session, entry, true
		}
	}
	return "", hearken.Segment{}, false
}

// readRow reads the eight columns. Whatever follows the seventh comma is the
// text, quoted or not.
func readRow(row string) (hearken.Segment, bool) {
	if start := strings.TrimLeft(row[:min(len(row), 8)], ` "`); start == "" || start[0] < '0' || start[0] > '9' {
		return hearken.Segment{}, false
	}
	var cells [7]string
	for i := range cells {
		var ok bool
		if cells[i], row, ok = cutCell(row); !ok {
			return hearken.Segment{}, false
		}
	}
	at, ok1 := readTime(cells[0])
	line, err := strconv.ParseUint(cells[3], 10, 31)
	confidence, ok2 := readNumber(cells[4], 1)
	duration, ok3 := readNumber(cells[5], 7*24*3600)
	language, ok4 := readLanguage(cells[6])
	e := hearken.Segment{
		Line: int(line), Origin: hearken.Origin(cells[1]), Status: hearken.Status(cells[2]),
		Confidence: confidence, Language: language, Timestamp: at, Text: readText(row),
	}
	if !ok1 || !ok2 || !ok3 || !ok4 || err != nil || line == math.MaxInt32 {
		return hearken.Segment{}, false
	}
	switch e.Origin {
	case hearken.Microphone, hearken.System, hearken.EventOrigin:
	default:
		return hearken.Segment{}, false
	}
	e.ID = cells[1] + strconv.Itoa(e.Line)
	switch e.Status {
	case hearken.Unconfirmed:
	case hearken.Translated:
		e.ID += "T"
		fallthrough
	case hearken.Confirmed, hearken.NoSpeech:
		e.IsFinal, e.Durable = true, true
	default:
		return hearken.Segment{}, false
	}
	if duration != nil {
		e.EndTime = *duration
	}
	return e, true
}

// cutCell takes a cell and the comma behind it.
func cutCell(s string) (cell, rest string, ok bool) {
	s = strings.TrimLeft(s, " \t")
	if strings.HasPrefix(s, `"`) {
		cell, rest, ok = cutQuoted(s)
		rest = strings.TrimLeft(rest, " \t")
		return cell, strings.TrimPrefix(rest, ","), ok && strings.HasPrefix(rest, ",")
	}
	cell, rest, ok = strings.Cut(s, ",")
	return strings.TrimSpace(cell), rest, ok
}

// cutQuoted takes a string in quotes, with the escapes of TOON, which are
// among those of JSON.
func cutQuoted(s string) (text, rest string, ok bool) {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			err := json.Unmarshal([]byte(s[:i+1]), &text)
			return text, s[i+1:], err == nil
		}
	}
	return "", s, false
}

// readText reads the last cell: quoted as TOON does it, as CSV does it, or
// plain. Quotes that do not go around the whole text belong to it.
func readText(s string) string {
	s = strings.TrimSpace(s)
	if !strings.HasPrefix(s, `"`) {
		return s
	}
	if text, rest, ok := cutQuoted(s); ok && rest == "" {
		return text
	}
	if len(s) >= 2 && strings.HasSuffix(s, `"`) {
		inner := s[1 : len(s)-1]
		if !strings.Contains(strings.ReplaceAll(inner, `""`, ""), `"`) {
			return strings.ReplaceAll(inner, `""`, `"`)
		}
	}
	return s
}

// readNumber reads a number from 0 to most, or none.
func readNumber(s string, most float64) (*float64, bool) {
	if s == "" || s == "null" {
		return nil, true
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f >= 0 && f <= most) {
		return nil, false
	}
	return &f, true
}

// readLanguage reads a code such as en or pt-BR, or none.
func readLanguage(s string) (string, bool) {
	if s == "" || s == "null" {
		return "", true
	}
	for _, c := range []byte(s) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && c != '-' && c != '_' && (c < '0' || c > '9') {
			return "", false
		}
	}
	return s, len(s) <= 35
}

// readTime reads ISO 8601 with an offset, and also without one, as the time
// of this place.
func readTime(s string) (time.Time, bool) {
	if len(s) < len("2006-01-02T15:04") || s[4] != '-' {
		return time.Time{}, false
	}
	if s[10] == ' ' {
		s = s[:10] + "T" + s[11:]
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t, t.Year() >= 1970
		}
	}
	return time.Time{}, false
}
