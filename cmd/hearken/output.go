package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/term"

	"github.com/hearken-dev/hearken/safetext"
)

func (p *program) writeJSON(v any) error {
	enc := json.NewEncoder(p.stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// writeList writes items as JSON or as a table with one row per item. If there
// are none, it says so instead of a table.
func writeList[T any](p *program, asJSON bool, items []T, none string, heads []string, row func(*T) []string) error {
	if asJSON {
		if items == nil {
			items = []T{} // [], not null
		}
		return p.writeJSON(items)
	}
	if len(items) == 0 {
		fmt.Fprintln(p.stderr, none)
		return nil
	}
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(heads, "\t"))
	for i := range items {
		cells := row(&items[i])
		for i := range cells {
			cells[i] = safetext.Line(cells[i])
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	return w.Flush()
}

// isTerminal reports whether a reader or writer is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// localTime writes a time in this computer's zone, to the minute.
func localTime(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// formatSeconds writes a length of time as 1:02:03.
func formatSeconds(seconds float64) string {
	s := int(seconds)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// progress shows how much of a file is done: a bar on a terminal, one line
// elsewhere.
type progress struct {
	w     io.Writer
	name  string
	bar   bool
	shown int // percent; -1 if nothing is shown
}

func (p *program) progress(name string, quiet bool) *progress {
	if quiet {
		return &progress{w: io.Discard}
	}
	g := &progress{w: p.stderr, name: name, bar: isTerminal(p.stderr), shown: -1}
	if !g.bar {
		fmt.Fprintf(g.w, "%s: transcribing\n", name)
	}
	return g
}

func (g *progress) show(done float64) {
	percent := int(100 * max(0, min(1, done)))
	if !g.bar || percent == g.shown {
		return
	}
	g.shown = percent
	const width = 30
	full := width * percent / 100
	fmt.Fprintf(g.w, "\r%s %s%s %3d%%", g.name, strings.Repeat("█", full), strings.Repeat("░", width-full), percent)
}

// clear removes the bar.
func (g *progress) clear() {
	if g.bar && g.shown >= 0 {
		fmt.Fprint(g.w, "\r\x1b[K")
		g.shown = -1
	}
}
