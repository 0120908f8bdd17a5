package models

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// A Step is the progress of one package or one task.
type Step struct {
	Name  string
	Done  int64 // bytes
	Total int64 // bytes; 0 if that is not known
	State Phase
}

// A Phase of a [Step].
type Phase int

// Every step starts, may move, and ends in Finished or Failed. Present and
// Waiting stand alone.
const (
	Started Phase = iota
	Moving
	Finished
	Failed
	Present // nothing to do
	Waiting // for another pull
)

// Printer shows steps to a person: a line with a bar for each on a terminal,
// plain lines elsewhere.
func Printer(w io.Writer) func(Step) {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return barPrinter(w, time.Now)
	}
	return linePrinter(w, time.Now)
}

func linePrinter(w io.Writer, now func() time.Time) func(Step) {
	var began time.Time
	return func(s Step) {
		switch s.State {
		case Started:
			began = now()
			if s.Total > 0 {
				fmt.Fprintf(w, "%s: %s\n", s.Name, megabytes(s.Total))
			} else {
				fmt.Fprintf(w, "%s\n", s.Name)
			}
		case Finished:
			fmt.Fprintf(w, "%s: done in %s\n", s.Name, elapsed(began, now()))
		case Failed:
			fmt.Fprintf(w, "%s: failed\n", s.Name)
		case Present:
			fmt.Fprintf(w, "%s: already there and verified\n", s.Name)
		case Waiting:
			fmt.Fprintf(w, "waiting: %s\n", s.Name)
		}
	}
}

func barPrinter(w io.Writer, now func() time.Time) func(Step) {
	const width = 24
	const erase = "\r\x1b[K"
	var began time.Time
	plain := linePrinter(w, now)
	return func(s Step) {
		switch s.State {
		case Started, Moving:
			if s.State == Started {
				began = now()
			}
			if s.Total == 0 {
				fmt.Fprintf(w, erase+"%-38s …", s.Name)
				return
			}
			full := int(width * min(s.Done, s.Total) / s.Total)
			fmt.Fprintf(w, erase+"%-38s [%s%s] %9s of %s", s.Name,
				strings.Repeat("█", full), strings.Repeat("·", width-full), megabytes(s.Done), megabytes(s.Total))
		case Finished:
			size := ""
			if s.Total > 0 {
				size = megabytes(s.Total) + " "
			}
			fmt.Fprintf(w, erase+"%-38s ✓ %sin %s\n", s.Name, size, elapsed(began, now()))
		case Failed:
			fmt.Fprintf(w, erase+"%-38s ✗\n", s.Name)
		default:
			plain(s)
		}
	}
}

func elapsed(began, now time.Time) time.Duration { return now.Sub(began).Round(100 * time.Millisecond) }

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
