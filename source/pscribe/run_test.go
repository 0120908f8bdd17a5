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

func TestScribe_TooLong(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("another limit, another error")
	}
	_, err := newCLI(t, nil).scribe().Grep(t.Context(), hearken.GrepRequest{Pattern: strings.Repeat("x", 4<<20)})
	if hearken.CodeOf(err) != hearken.Invalid || !strings.Contains(err.Error(), "too long") {
		t.Error(err)
	}
}

// A script that does not say what runs it is not executable, whatever its mode.
func TestScribe_NoInterpreter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pscribe")
	if err := os.WriteFile(path, []byte("echo hello\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := New(Config{Path: path}).Status(t.Context())
	if runtime.GOOS != "windows" && (hearken.CodeOf(err) != hearken.Forbidden || !strings.Contains(err.Error(), "cannot be executed")) {
		t.Error(err)
	}
}

func TestScribe_NotRunningAtStart(t *testing.T) {
	s := newCLI(t, map[string]reply{"start": fails("The app is not running")}).scribe()
	_, err := s.Start(t.Context(), hearken.CaptureRequest{})
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
	status, err := s.Start(t.Context(), hearken.CaptureRequest{})
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
	if _, err := c.scribe().New(t.Context(), hearken.CaptureRequest{}); err == nil {
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
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho \"$HEARKEN_TEST_WORD$HEARKEN_RUNS_PSCRIBE $(cat | wc -c | tr -d ' ')\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HEARKEN_TEST_WORD", "parrot")
	status, err := New(Config{Path: path}).Status(t.Context())
	if err != nil || status.Raw != "parrot1 0" {
		t.Errorf("%+v, %v", status, err)
	}
}
