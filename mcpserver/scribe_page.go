package mcpserver

import (
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/safetext"
	"github.com/hearken-dev/hearken/toon"
)

// pageObject shows entries of a session. Its last field is the line to continue
// from.
func pageObject(page *hearken.ScribePage, format string) toon.Object {
	var o toon.Object
	if page.Session != "" {
		o = append(o, toon.Field{Key: "session", Value: page.Session})
	}
	entries := withReadableLines(page)
	if format == "compact" {
		o = append(o, compactObject(entries)...)
	} else {
		for i := range entries {
			entries[i].Timestamp = entries[i].Timestamp.Local()
		}
		o = append(o, toon.Field{Key: "transcript", Value: toon.Transcript(entries)})
	}
	if page.Raw != "" {
		o = append(o, toon.Field{Key: "raw", Value: safetext.Clip(page.Raw, rawLength)})
	}
	return append(o, toon.Field{Key: "next_since_line", Value: page.Next})
}

// withReadableLines copies a page's entries. An unconfirmed entry gets no higher
// line than the confirmed ones have: a reader that continues from the last line
// it saw would otherwise miss the words that are still to be confirmed.
func withReadableLines(page *hearken.ScribePage) []hearken.Segment {
	entries := make([]hearken.Segment, len(page.Entries))
	copy(entries, page.Entries)
	for i := range entries {
		if entries[i].Status == hearken.Unconfirmed {
			entries[i].Line = max(0, min(entries[i].Line, page.Next-1))
		}
	}
	return entries
}

// compactObject is a transcript that needs fewer tokens: it has seconds instead of
// timestamps, and says only once what is the same in all rows.
func compactObject(entries []hearken.Segment) toon.Object {
	if len(entries) == 0 {
		return toon.Object{{Key: "transcript", Value: toon.Table{}}}
	}
	full := toon.Transcript(entries)
	start := entries[0].Timestamp.Add(-time.Duration(entries[0].StartTime * float64(time.Second)))
	o := toon.Object{{Key: "start", Value: localTime(start)}}
	short := toon.Table{Columns: []string{"second"}, Rows: make([][]any, len(entries))}
	for i := range entries {
		short.Rows[i] = []any{int(entries[i].Timestamp.Sub(start).Seconds())}
	}
	for c, name := range full.Columns[1:] {
		switch {
		case name != "source" && name != "status" && name != "language" && name != "confidence" || !isConstant(full, c+1):
			short.Columns = append(short.Columns, name)
			for i := range short.Rows {
				short.Rows[i] = append(short.Rows[i], full.Rows[i][c+1])
			}
		case full.Rows[0][c+1] != nil:
			o = append(o, toon.Field{Key: name, Value: full.Rows[0][c+1]})
		}
	}
	return append(o, toon.Field{Key: "transcript", Value: short})
}

// isConstant reports whether a column is the same in all rows.
func isConstant(t toon.Table, column int) bool {
	for _, row := range t.Rows {
		if row[column] != t.Rows[0][column] {
			return false
		}
	}
	return true
}
