package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/safetext"
)

// scribeCmd accepts the commands and flags of the pscribe CLI and prints the same
// rows, so that programs made for it also work with Hearken.
type scribeCmd struct {
	Start  scribeStartCmd  `cmd:"" help:"Start transcribing this computer's microphone and system audio."`
	Stop   scribeStopCmd   `cmd:"" help:"Stop transcribing."`
	Status scribeStatusCmd `cmd:"" help:"Show whether it is running, in which session, and for how long."`
	Tail   scribeTailCmd   `cmd:"" help:"Show the newest entries, or all from a given line."`
	Cat    scribeCatCmd    `cmd:"" help:"Show whole sessions."`
	List   scribeListCmd   `cmd:"" help:"List this computer's captures, newest first."`
	Grep   scribeGrepCmd   `cmd:"" help:"Find entries with a regular expression."`
	New    scribeNewCmd    `cmd:"" help:"Continue in a new session without losing audio."`
}

// scribeName is the name under which this program replaces that CLI.
const scribeName = "pscribe"

// scribeArgs turns `pscribe tail`, called through a link to this program, into
// `hearken scribe tail`. It leaves `serve` alone: such a link may start a hub.
func scribeArgs(name string, args []string) []string {
	if strings.TrimSuffix(filepath.Base(name), ".exe") != scribeName || len(args) > 0 && args[0] == "serve" {
		return args
	}
	return append([]string{"scribe"}, args...)
}

type scribeStartCmd struct{}

func (*scribeStartCmd) Run(ctx context.Context, p *program) error {
	return p.withScribe(ctx, true, func(s hearken.Scribe) error { return p.printStatus(s.Start(ctx, p.captureRequest("", ""))) })
}

type scribeNewCmd struct{}

func (*scribeNewCmd) Run(ctx context.Context, p *program) error {
	return p.withScribe(ctx, true, func(s hearken.Scribe) error { return p.printStatus(s.New(ctx, p.captureRequest("", ""))) })
}

type scribeStopCmd struct{}

func (*scribeStopCmd) Run(ctx context.Context, p *program) error {
	return p.withScribe(ctx, false, func(s hearken.Scribe) error { return p.printStatus(s.Stop(ctx)) })
}

type scribeStatusCmd struct{}

func (*scribeStatusCmd) Run(ctx context.Context, p *program) error {
	return p.withScribe(ctx, false, func(s hearken.Scribe) error { return p.printStatus(s.Status(ctx)) })
}

func (p *program) printStatus(st *hearken.ScribeStatus, err error) error {
	if err != nil {
		return err
	}
	if st.Raw != "" { // ParrotScribe's own words
		fmt.Fprintln(p.stdout, strings.TrimSpace(st.Raw))
		return nil
	}
	state := "stopped"
	if st.Running {
		state = "listening"
	}
	fmt.Fprintln(p.stdout, "status:", state)
	if st.Session != "" {
		fmt.Fprintln(p.stdout, "session:", st.Session)
		fmt.Fprintln(p.stdout, "started:", st.Since.Local().Format(rowTime))
		fmt.Fprintln(p.stdout, "duration:", formatSeconds(st.Length.Seconds()))
	}
	if st.Engine != "" {
		fmt.Fprintln(p.stdout, "engine:", st.Engine)
		fmt.Fprintln(p.stdout, "language:", st.Language)
	}
	for _, note := range st.Notes {
		fmt.Fprintln(p.stdout, "note:", safetext.Line(note))
	}
	return nil
}

type scribeTailCmd struct {
	N       string `short:"n" default:"10" help:"How many entries. +N: all from line N."`
	Status  string `default:"all" enum:"all,confirmed,unconfirmed,translated,speech" help:"all, confirmed, unconfirmed, translated or speech."`
	Session string `help:"Id of the session. Default: the current one."`
	Echo    bool   `help:"Also show echo: the other side's words as your microphone picked them up."`
}

func (c *scribeTailCmd) Run(ctx context.Context, p *program) error {
	req := hearken.TailRequest{Session: c.Session, Filter: hearken.StatusFilter(c.Status), Echo: c.Echo}
	count, since := strings.CutPrefix(c.N, "+")
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 {
		return hearken.Errorf(hearken.Invalid, "-n must be a number from 1, or + and a number, not %q.", c.N)
	}
	if req.N = n; since {
		req.SinceLine, req.N, req.Echo = n, tailAll, true
	}
	return p.withScribe(ctx, false, func(s hearken.Scribe) error {
		page, err := s.Tail(ctx, req)
		if err != nil {
			return err
		}
		if since {
			c.oneRowPerLine(page, n)
		}
		return p.printEntries("", *page)
	})
}

// oneRowPerLine makes exactly one row of each line from a given one: clients that
// poll count the rows to know the next line. So it leaves unconfirmed entries
// out, and shows an echo as a row without words.
func (c *scribeTailCmd) oneRowPerLine(page *hearken.ScribePage, from int) {
	all := page.Entries
	page.Entries = nil
	if page.Next < from {
		return // the line does not exist yet
	}
	for _, seg := range all {
		switch {
		case seg.Status == hearken.Unconfirmed && c.Status != string(hearken.OnlyUnconfirmed):
			continue
		case seg.Echo && !c.Echo && c.Status != string(hearken.AllEntries):
			continue
		case seg.Echo && !c.Echo:
			seg.Status, seg.Text, seg.Confidence, seg.Language = hearken.NoSpeech, "", nil, ""
		}
		page.Entries = append(page.Entries, seg)
	}
}

// tailAll is the largest number of entries "from a line on".
const tailAll = 1_000_000

type scribeCatCmd struct {
	Sessions []string `arg:"" optional:"" help:"Ids of sessions. Default: the current one."`
	Since    string   `help:"Only sessions that started at or after this time."`
	Until    string   `help:"Only sessions that started before this time."`
	Last     int      `help:"Only the last N sessions."`
	Status   string   `default:"confirmed" enum:"all,confirmed,unconfirmed,translated,speech" help:"all, confirmed, unconfirmed, translated or speech."`
	Echo     bool     `help:"Also show echo: the other side's words as your microphone picked them up."`
}

func (c *scribeCatCmd) Run(ctx context.Context, p *program) error {
	req := hearken.CatRequest{Sessions: c.Sessions, Last: c.Last, Filter: hearken.StatusFilter(c.Status), Echo: c.Echo}
	if c.Last < 0 {
		return hearken.Errorf(hearken.Invalid, "--last must be at least 1, not %d.", c.Last)
	}
	var err error
	if req.Since, req.Until, err = startedBetween(c.Since, c.Until); err != nil {
		return err
	}
	return p.withScribe(ctx, false, func(s hearken.Scribe) error {
		pages, err := s.Cat(ctx, req)
		if err != nil {
			return err
		}
		return p.printEntries("", pages...)
	})
}

type scribeListCmd struct {
	Limit int `default:"10" help:"How many."`
}

func (c *scribeListCmd) Run(ctx context.Context, p *program) error {
	if c.Limit < 1 {
		return hearken.Errorf(hearken.Invalid, "--limit must be at least 1, not %d.", c.Limit)
	}
	return p.withScribe(ctx, false, func(s hearken.Scribe) error {
		list, err := s.Sessions(ctx, c.Limit)
		if err != nil {
			return err
		}
		return p.printSessions(list)
	})
}

type scribeGrepCmd struct {
	Pattern    string `arg:"" help:"Regular expression."`
	Since      string `help:"Only sessions that started at or after this time."`
	Until      string `help:"Only sessions that started before this time."`
	Status     string `default:"confirmed" enum:"all,confirmed,unconfirmed,translated,speech" help:"all, confirmed, unconfirmed, translated or speech."`
	IgnoreCase bool   `short:"i" help:"Ignore case."`
	Count      bool   `short:"c" help:"Show only how many matches each session has."`
	After      int    `short:"A" help:"Also show N entries after each match."`
	Before     int    `short:"B" help:"Also show N entries before each match."`
	Context    int    `short:"C" help:"Also show N entries before and after each match."`
}

func (c *scribeGrepCmd) Run(ctx context.Context, p *program) error {
	if min(c.After, c.Before, c.Context) < 0 {
		return hearken.Errorf(hearken.Invalid, "-A, -B and -C must not be negative.")
	}
	req := hearken.GrepRequest{
		Pattern: c.Pattern, Filter: hearken.StatusFilter(c.Status), IgnoreCase: c.IgnoreCase,
		Before: max(c.Before, c.Context), After: max(c.After, c.Context),
	}
	if c.Count {
		req.Before, req.After = 0, 0
	}
	var err error
	if req.Since, req.Until, err = startedBetween(c.Since, c.Until); err != nil {
		return err
	}
	return p.withScribe(ctx, false, func(s hearken.Scribe) error {
		pages, err := s.Grep(ctx, req)
		if err != nil {
			return err
		}
		if !c.Count {
			return p.printEntries(":", pages...)
		}
		for _, page := range pages {
			fmt.Fprintf(p.stdout, "%s:%d\n", safetext.Line(page.Session), len(page.Entries))
		}
		return nil
	})
}

// startedBetween parses --since and --until; either may be empty.
func startedBetween(since, until string) (from, to time.Time, err error) {
	for _, bound := range []struct {
		flag, text string
		at         *time.Time
	}{{"--since", since, &from}, {"--until", until, &to}} {
		if bound.text == "" {
			continue
		}
		if *bound.at, err = parseTime(bound.text); err != nil {
			return from, to, hearken.Errorf(hearken.Invalid, "%s must be a date or a time such as 2026-11-05T09:30:00+01:00, not %q.", bound.flag, bound.text)
		}
	}
	if !from.IsZero() && !to.IsZero() && !from.Before(to) {
		return from, to, hearken.Errorf(hearken.Invalid, "--since must be before --until.")
	}
	return from, to, nil
}

func parseTime(text string) (t time.Time, err error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if t, err = time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	return t, err
}
