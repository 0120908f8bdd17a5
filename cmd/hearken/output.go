package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
)

func (p *program) writeJSON(v any) error {
	enc := json.NewEncoder(p.stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// A table writes columns that line up.
type table struct{ w *tabwriter.Writer }

func (p *program) table(heads ...string) *table {
	t := &table{tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)}
	t.row(heads...)
	return t
}

func (t *table) row(cells ...string) {
	for i := range cells {
		cells[i] = tame(cells[i])
	}
	fmt.Fprintln(t.w, strings.Join(cells, "\t"))
}

func (t *table) flush() error { return t.w.Flush() }

// tame takes out of a text what a terminal would obey: whoever gives a session
// its title must not move the owner's cursor or forge a line.
func tame(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
}

// when writes a time as a person here would.
func when(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// clock writes seconds as 1:02:03.
func clock(seconds float64) string {
	s := int(seconds)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
