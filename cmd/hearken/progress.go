package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// progress shows how far one file is: a bar on a terminal, a line elsewhere.
type progress struct {
	w     io.Writer
	name  string
	bar   bool
	shown int // percent; -1 for nothing yet
}

func (p *program) progress(name string, quiet bool) *progress {
	if quiet {
		return &progress{w: io.Discard}
	}
	f, ok := p.stderr.(*os.File)
	g := &progress{w: p.stderr, name: name, bar: ok && term.IsTerminal(int(f.Fd())), shown: -1}
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

// clear makes room for the text.
func (g *progress) clear() {
	if g.bar && g.shown >= 0 {
		fmt.Fprint(g.w, "\r\x1b[K")
		g.shown = -1
	}
}
