package pscribe

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hearken-dev/hearken"
)

func TestScribe_Refuses(t *testing.T) {
	c := newCLI(t, nil)
	s, ctx := c.scribe(), t.Context()
	day := time.Date(2026, 1, 15, 9, 0, 0, 0, time.UTC)
	tail := func(req hearken.TailRequest) error { _, err := s.Tail(ctx, req); return err }
	cat := func(req hearken.CatRequest) error { _, err := s.Cat(ctx, req); return err }
	grep := func(req hearken.GrepRequest) error { _, err := s.Grep(ctx, req); return err }
	sessions := func(limit int) error { _, err := s.Sessions(ctx, limit); return err }
	for name, err := range map[string]error{
		"n of 0":             tail(hearken.TailRequest{}),
		"negative n":         tail(hearken.TailRequest{N: -3}),
		"negative line":      tail(hearken.TailRequest{N: 1, SinceLine: -1}),
		"negative wait":      tail(hearken.TailRequest{N: 1, Wait: -1}),
		"unknown status":     tail(hearken.TailRequest{N: 1, Filter: "--help"}),
		"unknown, polling":   tail(hearken.TailRequest{N: 1, SinceLine: 1, Filter: "x"}),
		"session is a flag":  tail(hearken.TailRequest{N: 1, Session: "--help"}),
		"flag, polling":      tail(hearken.TailRequest{N: 1, SinceLine: 2, Session: "-x"}),
		"session is a path":  tail(hearken.TailRequest{N: 1, Session: "../secret"}),
		"backslash":          tail(hearken.TailRequest{N: 1, Session: `a\b`}),
		"control character":  tail(hearken.TailRequest{N: 1, Session: "a\x00b"}),
		"newline":            tail(hearken.TailRequest{N: 1, Session: "a\n"}),
		"not UTF-8":          tail(hearken.TailRequest{N: 1, Session: "\xff"}),
		"long session":       tail(hearken.TailRequest{N: 1, Session: strings.Repeat("x", 300)}),
		"cat a flag":         cat(hearken.CatRequest{Sessions: []string{"good", "--all"}}),
		"cat an empty id":    cat(hearken.CatRequest{Sessions: []string{""}}),
		"cat a directory":    cat(hearken.CatRequest{Sessions: []string{".."}}),
		"cat backwards":      cat(hearken.CatRequest{Since: day.Add(time.Second), Until: day}),
		"cat the year 12000": cat(hearken.CatRequest{Since: day.AddDate(10_000, 0, 0)}),
		"cat last -1":        cat(hearken.CatRequest{Last: -1}),
		"cat unknown status": cat(hearken.CatRequest{Filter: "x"}),
		"grep nothing":       grep(hearken.GrepRequest{}),
		"grep a flag":        grep(hearken.GrepRequest{Pattern: "--help"}),
		"grep a control":     grep(hearken.GrepRequest{Pattern: "a\x1bb"}),
		"grep backwards":     grep(hearken.GrepRequest{Pattern: "x", Since: day.Add(1), Until: day}),
		"grep before -1":     grep(hearken.GrepRequest{Pattern: "x", Before: -1}),
		"grep after -1":      grep(hearken.GrepRequest{Pattern: "x", After: -1}),
		"grep limit -1":      grep(hearken.GrepRequest{Pattern: "x", Limit: -1}),
		"grep status":        grep(hearken.GrepRequest{Pattern: "x", Filter: "x"}),
		"limit -1":           sessions(-1),
	} {
		if hearken.CodeOf(err) != hearken.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if calls := c.calls(); len(calls) > 0 {
		t.Errorf("the program was asked: %q", calls)
	}
}

func TestScribe_Calls(t *testing.T) {
	c := newCLI(t, nil)
	s, ctx := c.scribe(), t.Context()
	cet := time.FixedZone("", 3600)
	since, until := time.Date(2024, 1, 14, 9, 0, 0, 5, cet), time.Date(2024, 1, 14, 10, 0, 0, 0, cet)
	do := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	do(s.Start(ctx, hearken.CaptureRequest{}))
	do(s.Stop(ctx))
	do(s.Status(ctx))
	do(s.New(ctx, hearken.CaptureRequest{}))
	do(s.Sessions(ctx, 20))
	do(s.Sessions(ctx, 0))
	do(s.Tail(ctx, hearken.TailRequest{N: 10}))
	do(s.Tail(ctx, hearken.TailRequest{N: 10, Filter: hearken.AllEntries}))
	do(s.Tail(ctx, hearken.TailRequest{N: 5, Filter: hearken.OnlyConfirmed, Session: "a1"}))
	do(s.Tail(ctx, hearken.TailRequest{N: 5, SinceLine: 7, Filter: hearken.OnlyConfirmed, Session: "a1"}))
	do(s.Cat(ctx, hearken.CatRequest{}))
	do(s.Cat(ctx, hearken.CatRequest{Sessions: []string{"a1", "b c"}, Since: since, Until: until, Last: 3, Filter: hearken.OnlySpeech}))
	do(s.Grep(ctx, hearken.GrepRequest{Pattern: "and/or $(x)"}))
	do(s.Grep(ctx, hearken.GrepRequest{Pattern: "x", Since: since, Filter: hearken.OnlyConfirmed, IgnoreCase: true, Before: 1, After: 2, Limit: 5}))
	want := []string{
		"start", "stop", "status", "new", "list --limit 20", "list",
		"tail -n 10", "tail -n 10", "tail -n 5 --status confirmed --session a1", "tail -n +7 --session a1",
		"cat", "cat --since 2024-01-14T09:00:00+01:00 --until 2024-01-14T10:00:00+01:00 --last 3 --status speech -- a1 b c",
		"grep -- and/or $(x)", "grep --since 2024-01-14T09:00:00+01:00 --status confirmed --ignore-case -A 2 -B 1 -- x",
	}
	if diff := cmp.Diff(want, c.calls()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
