package main

import (
	"bufio"
	"fmt"
	"strconv"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/toon"
)

// rowTime is the layout of times in rows.
const rowTime = "2006-01-02T15:04:05-07:00"

// printEntries prints entries like the pscribe CLI: rows without a header. With a
// separator, each begins with its session.
func (p *program) printEntries(separator string, pages ...hearken.ScribePage) error {
	w := bufio.NewWriter(p.stdout)
	for i := range pages {
		page := &pages[i]
		if page.Raw != "" {
			fmt.Fprintln(w, page.Raw)
		}
		for j := range page.Entries {
			if separator != "" {
				w.WriteString(page.Session + separator)
			}
			w.Write(appendEntry(nil, &page.Entries[j]))
			w.WriteByte('\n')
		}
	}
	return w.Flush()
}

// appendEntry appends timestamp, source, status, segment, confidence, duration,
// language and text. Of unconfirmed text, only the timestamp and the words are
// known.
func appendEntry(b []byte, s *hearken.Segment) []byte {
	confidence, length, language := "", 0.0, ""
	if s.Status != hearken.Unconfirmed {
		if s.Confidence != nil {
			confidence = strconv.FormatFloat(*s.Confidence, 'f', 2, 64)
		}
		length, language = s.EndTime-s.StartTime, s.Language
	}
	b = fmt.Appendf(b, "%s,%s,%s,%d,%s,%.1f,%s,", s.Timestamp.Local().Format(rowTime), s.Origin, s.Status, s.Line, confidence, length, language)
	return toon.AppendRow(b, s.Text)
}

// printSessions prints captures: id, start, duration in seconds, entries, state.
func (p *program) printSessions(list []hearken.ScribeSession) error {
	w := bufio.NewWriter(p.stdout)
	for i := range list {
		s := &list[i]
		if s.Raw != "" {
			fmt.Fprintln(w, s.Raw)
			continue
		}
		state, entries := "stopped", ""
		if s.Running {
			state = "listening"
		}
		if s.Entries >= 0 {
			entries = strconv.Itoa(s.Entries)
		}
		fmt.Fprintf(w, "%s,%s,%.1f,%s,%s\n", s.ID, s.StartedAt.Local().Format(rowTime), s.Length.Seconds(), entries, state)
	}
	return w.Flush()
}
