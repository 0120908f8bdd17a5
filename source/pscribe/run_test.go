package pscribe

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/hearken-dev/hearken"
)

func TestFind(t *testing.T) {
	dir := t.TempDir()
	good := newCLI(t, nil).path
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	linked := filepath.Join(dir, "pscribe")
	if err := os.Symlink(self, linked); err != nil {
		t.Skip("no symbolic links here")
	}
	hard := filepath.Join(dir, "hard")
	hardLinked := os.Link(self, hard) == nil

	t.Setenv("PATH", filepath.Dir(good))
	if found, err := Find(""); err != nil || found != good {
		t.Errorf("in PATH: %q, %v", found, err)
	}
	if found, err := Find(good); err != nil || found != good {
		t.Errorf("by path: %q, %v", found, err)
	}
	t.Setenv("PATH", dir)
	tests := map[string]struct {
		path string
		code hearken.Code
		text string
	}{
		"missing":        {filepath.Join(dir, "none"), hearken.NotFound, filepath.Join(dir, "none")},
		"not in PATH":    {"none", hearken.NotFound, "SCRIBE_BACKEND=native"},
		"ourselves":      {self, hearken.Invalid, "Hearken itself"},
		"link to us":     {"", hearken.Invalid, "Hearken itself"},
		"not executable": {plain, hearken.Forbidden, "chmod +x"},
		"directory":      {dir, hearken.Forbidden, "PSCRIBE_PATH"},
	}
	if hardLinked {
		tests["hard link to us"] = struct {
			path string
			code hearken.Code
			text string
		}{hard, hearken.Invalid, "Hearken itself"}
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && tt.code == hearken.Forbidden {
				t.Skip("no permission to execute on Windows")
			}
			found, err := Find(tt.path)
			if hearken.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("%q, %s: %v", found, hearken.CodeOf(err), err)
			}
			_, callErr := New(Config{Path: tt.path}).Status(t.Context())
			if callErr == nil || callErr.Error() != err.Error() {
				t.Errorf("the call says %v, Find %v", callErr, err)
			}
		})
	}
}

func TestScribe_Failures(t *testing.T) {
	tests := map[string]struct {
		reply reply
		code  hearken.Code
		texts []string
	}{
		"no session":      {fails("Error: No active transcript\n"), hearken.SessionNotFound, []string{"No active transcript", "pscribe_start"}},
		"no session, 0":   {reply{Stderr: []byte("No active transcript")}, hearken.SessionNotFound, []string{"pscribe_start"}},
		"on stdout":       {reply{Stdout: []byte("No active transcript"), Exit: 1}, hearken.SessionNotFound, []string{"pscribe_start"}},
		"not running":     {fails("ParrotScribe is not running"), hearken.SessionAlreadyStopped, []string{"pscribe_start"}},
		"microphone":      {fails("Microphone access denied."), hearken.Forbidden, []string{"Privacy & Security > Microphone"}},
		"system audio":    {fails("Permission for Screen Recording was not granted"), hearken.Forbidden, []string{"Screen & System Audio Recording"}},
		"unknown session": {fails("Session 'x' not found"), hearken.SessionNotFound, []string{"pscribe_sessions"}},
		"unknown option":  {fails("Error: Unknown option '--session'"), hearken.ProviderConnectionFailed, []string{"exit status 1", "Unknown option"}},
		"nothing said":    {reply{Exit: 1}, hearken.ProviderConnectionFailed, []string{"exit status 1", "did not say why"}},
		"something else":  {reply{Stderr: []byte("a\x1b[31m\n\nb\xff"), Exit: 7}, hearken.ProviderConnectionFailed, []string{"exit status 7", "a [31m b\uFFFD"}},
		"after rows":      {reply{Stdout: []byte("2024-01-15T14:30:00Z,M,C,1,0.9,2,en,microphone permission denied"), Exit: 2}, hearken.ProviderConnectionFailed, []string{"exit status 2", "did not say why"}},
		"flood":           {reply{Flood: true}, hearken.BufferOverflow, []string{"8 MiB"}},
		"killed":          {reply{Kill: true}, hearken.ProviderConnectionFailed, []string{"killed"}},
		"much on stderr":  {reply{Stderr: []byte(strings.Repeat("x", 1<<20)), Exit: 1}, hearken.ProviderConnectionFailed, []string{"xxx…"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newCLI(t, map[string]reply{"tail": tt.reply}).scribe()
			_, err := s.Tail(t.Context(), hearken.TailRequest{N: 10})
			if hearken.CodeOf(err) != tt.code {
				t.Fatalf("code %q: %v", hearken.CodeOf(err), err)
			}
			for _, text := range tt.texts {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%q is not in: %v", text, err)
				}
			}
			if len(err.Error()) > 1000 || !utf8.ValidString(err.Error()) || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("not for people: %q", err)
			}
		})
	}
}

func TestScribe_NotRunningAtStart(t *testing.T) {
	s := newCLI(t, map[string]reply{"start": fails("The app is not running")}).scribe()
	_, err := s.Start(t.Context())
	if hearken.CodeOf(err) != hearken.ProviderConnectionFailed || !strings.Contains(err.Error(), "app") {
		t.Error(err)
	}
}

func TestScribe_InvalidUTF8(t *testing.T) {
	s := newCLI(t, map[string]reply{"tail": says("\xef\xbb\xbf2024-01-15T14:30:00Z,M,C,1,0.9,2,en,caf\xe9\n\xff\xfe\n")}).scribe()
	page, err := s.Tail(t.Context(), hearken.TailRequest{N: 10})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Entries) != 1 || page.Entries[0].Text != "caf\uFFFD" || page.Raw != "\uFFFD" {
		t.Errorf("%+v", page)
	}
}

// A program that hangs is stopped with all that it started.
func TestScribe_Timeout(t *testing.T) {
	l := listen(t)
	wait := reply{Wait: l.Addr().String()}
	hang := wait
	hang.Child = runtime.GOOS != "windows"
	c := newCLI(t, map[string]reply{"tail": hang, "child": wait})
	s := c.scribe()
	s.timeout = 2 * time.Second
	failed := make(chan error, 1)
	go func() {
		_, err := s.Tail(t.Context(), hearken.TailRequest{N: 10})
		failed <- err
	}()
	_, err := io.Copy(io.Discard, accept(t, l)) // ends when the process does
	if hang.Child {
		_, err2 := io.Copy(io.Discard, accept(t, l))
		err = errors.Join(err, err2)
	}
	t.Log(err) // a reset is an end, too
	if err := <-failed; hearken.CodeOf(err) != hearken.Busy || !strings.Contains(err.Error(), "2s") {
		t.Error(err)
	}
}

func TestScribe_Cancel(t *testing.T) {
	l := listen(t)
	s := newCLI(t, map[string]reply{"tail": {Wait: l.Addr().String()}}).scribe()
	s.timeout = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := s.Tail(ctx, hearken.TailRequest{N: 10})
		failed <- err
	}()
	process := accept(t, l)
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) || hearken.CodeOf(err) == "" {
		t.Error(err)
	}
	io.Copy(io.Discard, process)
}

// A call that takes its time does not delay another.
func TestScribe_Concurrent(t *testing.T) {
	l := listen(t)
	s := newCLI(t, map[string]reply{
		"tail":   {Stdout: []byte("2024-01-15T14:30:00Z,M,C,1,0.9,2,en,slow\n"), Wait: l.Addr().String()},
		"status": says("Status: listening"),
	}).scribe()
	s.timeout = time.Hour
	type result struct {
		page *hearken.ScribePage
		err  error
	}
	slow := make(chan result, 1)
	go func() {
		page, err := s.Tail(t.Context(), hearken.TailRequest{N: 10})
		slow <- result{page, err}
	}()
	process := accept(t, l) // the slow one runs, and will until we let it go
	for range 3 {
		if status, err := s.Status(t.Context()); err != nil || !status.Running {
			t.Errorf("%+v, %v", status, err)
		}
	}
	select {
	case r := <-slow:
		t.Fatalf("the slow one did not wait: %+v", r)
	default:
	}
	process.Close()
	if r := <-slow; r.err != nil || r.page.Entries[0].Text != "slow" {
		t.Errorf("%+v", r)
	}
}

// A service that a command leaves behind with its output open is neither
// waited for nor stopped.
func TestScribe_LeavesService(t *testing.T) {
	l := listen(t)
	c := newCLI(t, map[string]reply{
		"start": {Stdout: []byte("Transcription started"), Child: true},
		"child": {Wait: l.Addr().String()},
	})
	s := c.scribe()
	s.timeout = time.Hour
	status, err := s.Start(t.Context())
	if err != nil || !status.Running || status.Raw != "Transcription started" {
		t.Fatalf("%+v, %v", status, err)
	}
	service := accept(t, l)
	if _, err := service.Write([]byte("still there?")); err != nil {
		t.Error(err)
	}
	service.Close()
}

// A program that is replaced, by another file or in place, is the new one in
// the next call, and one that was killed for it is run again.
func TestScribe_Replaced(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a running program cannot be replaced there")
	}
	l := listen(t)
	c := newCLI(t, map[string]reply{"status": {Stdout: []byte("Status: listening"), Wait: l.Addr().String()}})
	s := c.scribe()
	s.timeout = time.Hour
	done := make(chan error, 1)
	go func() {
		_, err := s.Status(t.Context())
		done <- err
	}()
	process := accept(t, l)
	script := filepath.Join(t.TempDir(), "new")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho Status: stopped by the new one\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(script, c.path); err != nil {
		t.Fatal(err)
	}
	status, err := s.Status(t.Context())
	if err != nil || status.Running || status.Raw != "Status: stopped by the new one" {
		t.Errorf("%+v, %v", status, err)
	}
	process.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestScribe_KilledOnce(t *testing.T) {
	again := says("Status: listening")
	c := newCLI(t, map[string]reply{"status": {Kill: true, Last: &again}, "new": {Kill: true, Last: &again}})
	if runtime.GOOS == "windows" {
		t.Skip("no signals there")
	}
	if status, err := c.scribe().Status(t.Context()); err != nil || !status.Running {
		t.Errorf("%+v, %v", status, err)
	}
	if _, err := c.scribe().New(t.Context()); err == nil {
		t.Error("a second new session was begun")
	}
	if diff := cmp.Diff([]string{"status", "status", "new"}, c.calls()); diff != "" {
		t.Error(diff)
	}
}

// A file that is being written when it is to be run is run when that is done.
func TestScribe_BeingWritten(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux refuses to run it")
	}
	c := newCLI(t, nil)
	own := filepath.Join(t.TempDir(), "pscribe") // the link would be written through
	if err := copyFile(own, c.path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(own), "replies.json"), []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(own, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := New(Config{Path: own, Timeout: 50 * time.Millisecond})
	if _, err := s.Status(t.Context()); err == nil {
		t.Skip("this kernel runs what is being written")
	} else if hearken.CodeOf(err) != hearken.Busy {
		t.Fatal(err)
	}
	s.timeout = time.Minute
	done := make(chan error, 1)
	go func() {
		_, err := s.Status(t.Context())
		done <- err
	}()
	f.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// The environment is the program's, and its input is empty.
func TestScribe_Environment(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no shell there")
	}
	path := filepath.Join(t.TempDir(), "pscribe")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho \"$HEARKEN_TEST_WORD $(cat | wc -c | tr -d ' ')\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HEARKEN_TEST_WORD", "parrot")
	status, err := New(Config{Path: path}).Status(t.Context())
	if err != nil || status.Raw != "parrot 0" {
		t.Errorf("%+v, %v", status, err)
	}
}

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
	do(s.Start(ctx))
	do(s.Stop(ctx))
	do(s.Status(ctx))
	do(s.New(ctx))
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
