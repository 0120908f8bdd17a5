package pscribe

import (
	"encoding/json"
	"iter"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
)

// columns are the columns of a row, in order.
const columns = "timestamp,source,status,segment,confidence,duration,language,text"

// A record is one line that the program printed: an entry, structure such as a
// header, or anything else, which is returned unchanged.
type record struct {
	kind    kind
	session string // the session that the line names, if any
	entry   hearken.Segment
	raw     string
}

type kind int

const (
	isRaw kind = iota
	isEntry
	isHeader    // of a table
	isSeparator // between two matches of grep
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
	return record{raw: line, session: announcedSession(row)}
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

// isTableHead recognises the header of a table: the columns alone, with the
// table's name as ParrotScribe writes it, or also with its length as in TOON. An
// empty table counts too.
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

// readPrefixed reads a row that follows the name of its session, as grep prints
// it: after a colon, or after a dash for the rows around a match.
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

// readRow reads the eight columns. Everything after the seventh comma is the text,
// quoted or not.
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

// cutCell cuts off the first cell and the comma after it.
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

// cutQuoted cuts off a quoted string. TOON's escapes are a part of JSON's.
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

// readText reads the last cell: quoted as in TOON, quoted as in CSV, or plain.
// Quotes that do not enclose the whole text belong to it.
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

// readNumber reads a number from 0 to highest, or none.
func readNumber(s string, highest float64) (*float64, bool) {
	if s == "" || s == "null" {
		return nil, true
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f >= 0 && f <= highest) {
		return nil, false
	}
	return &f, true
}

var languageCode = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// readLanguage reads a code such as en or pt-BR, or none.
func readLanguage(s string) (string, bool) {
	if s == "" || s == "null" {
		return "", true
	}
	return s, len(s) <= 35 && languageCode.MatchString(s)
}

// readTime reads ISO 8601. A time without an offset is local time.
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
