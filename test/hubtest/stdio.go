package hubtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os/exec"
	"testing"
	"time"

	"github.com/hearken-dev/hearken/pipe"
)

// A Stdio is an MCP server that a client talks to over its standard input and
// output.
type Stdio struct {
	t      testing.TB
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
	stderr bytes.Buffer
	id     int
}

// StartStdio runs a server such as `hearken --stdio` and sends it what begins a
// session. The server is killed when the test ends.
func StartStdio(t testing.TB, env []string, dir string, command ...string) *Stdio {
	t.Helper()
	s := &Stdio{t: t, cmd: exec.Command(command[0], command[1:]...)}
	s.cmd.Env, s.cmd.Dir, s.cmd.Stderr = env, dir, &s.stderr
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.out = bufio.NewScanner(out)
	s.out.Buffer(nil, 1<<22)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	s.Send("initialize", map[string]any{
		"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "hubtest", "version": "1"},
	})
	s.write(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	return s
}

func (s *Stdio) write(message map[string]any) {
	s.t.Helper()
	line, err := json.Marshal(message)
	if err == nil {
		_, err = s.in.Write(append(line, '\n'))
	}
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", s.cmd.Path, err, &s.stderr)
	}
}

// Send makes a request without waiting for its answer. It returns its id.
func (s *Stdio) Send(method string, params any) int {
	s.t.Helper()
	s.id++
	s.write(map[string]any{"jsonrpc": "2.0", "id": s.id, "method": method, "params": params})
	return s.id
}

// Await reads until the answer to a request has come. Whatever else is on
// standard output must be a message as well, and none may be an error.
func (s *Stdio) Await(id int) json.RawMessage {
	s.t.Helper()
	for s.out.Scan() {
		m := s.message()
		if m.Error != nil {
			s.t.Fatalf("request %d: %s", m.ID, m.Error)
		}
		if m.ID == id {
			return m.Result
		}
	}
	s.t.Fatalf("%s: no answer: %v\n%s", s.cmd.Path, s.out.Err(), &s.stderr)
	return nil
}

type stdioMessage struct {
	JSONRPC       string
	ID            int
	Result, Error json.RawMessage
}

// message decodes the line that was read.
func (s *Stdio) message() (m stdioMessage) {
	s.t.Helper()
	if err := json.Unmarshal(s.out.Bytes(), &m); err != nil || m.JSONRPC != "2.0" {
		s.t.Errorf("standard output is not clean: %q", s.out.Text())
	}
	return m
}

// Request makes a request that must succeed and returns its result.
func (s *Stdio) Request(method string, params any) json.RawMessage {
	s.t.Helper()
	return s.Await(s.Send(method, params))
}

// CallText calls a tool that must succeed and returns its text.
func (s *Stdio) CallText(tool string, args map[string]any) string {
	s.t.Helper()
	return s.text(tool, s.Request("tools/call", map[string]any{"name": tool, "arguments": args}))
}

func (s *Stdio) text(tool string, result json.RawMessage) string {
	s.t.Helper()
	var res toolResult
	if err := json.Unmarshal(result, &res); err != nil || res.IsError || len(res.Content) == 0 {
		s.t.Fatalf("%s: %s", tool, result)
	}
	return res.Content[0].Text
}

// Close ends the server by the end of its input, and returns what it wrote to
// standard error.
func (s *Stdio) Close() string {
	s.t.Helper()
	s.in.Close()
	for s.out.Scan() {
		s.message()
	}
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("%s: %v", s.cmd.Path, err)
	}
	return s.stderr.String()
}

// Kill ends the server at once.
func (s *Stdio) Kill() {
	if s.cmd.ProcessState == nil {
		s.cmd.Process.Kill()
		_ = s.cmd.Wait() // it was killed
	}
}

// WaitEnded waits until no hub serves a data directory or holds its lock.
func WaitEnded(t testing.TB, dir string) {
	t.Helper()
	WaitUntil(t, 30*time.Second, "the hub has ended", func() bool {
		if pipe.Reachable(t.Context(), dir) {
			return false
		}
		lock, err := pipe.Acquire(dir)
		if err != nil {
			return false
		}
		return lock.Release() == nil
	})
}
