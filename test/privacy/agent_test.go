//go:build linux

package privacy

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os/exec"
	"testing"

	"github.com/hearken-dev/hearken/test/hubtest"
)

// An agent is a client of `hearken --stdio`.
type agent struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
	stderr bytes.Buffer
	id     int
}

func startAgent(t *testing.T, env []string, dir string) *agent {
	t.Helper()
	a := &agent{t: t, cmd: exec.Command(hubtest.Binary(t), "--stdio")}
	a.cmd.Env, a.cmd.Dir, a.cmd.Stderr = env, dir, &a.stderr
	var err error
	if a.in, err = a.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	a.out = bufio.NewScanner(out)
	a.out.Buffer(nil, 1<<22)
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.cmd.Process.Kill() })
	a.request("initialize", map[string]any{
		"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "privacy", "version": "1"},
	})
	io.WriteString(a.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	return a
}

// request asks for something that must succeed.
func (a *agent) request(method string, params any) json.RawMessage {
	a.t.Helper()
	m := a.ask(method, params)
	if m.Error != nil {
		a.t.Fatalf("%s: %s", method, m.Error)
	}
	return m.Result
}

// ask waits for the answer. Whatever else is on standard output must be a
// message as well.
func (a *agent) ask(method string, params any) message {
	a.t.Helper()
	a.id++
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": a.id, "method": method, "params": params})
	if err != nil {
		a.t.Fatal(err)
	}
	if _, err := a.in.Write(append(line, '\n')); err != nil {
		a.t.Fatalf("%s: %v\n%s", method, err, &a.stderr)
	}
	for a.out.Scan() {
		if m := a.message(); m.ID == a.id {
			return m
		}
	}
	a.t.Fatalf("%s: no answer: %v\n%s", method, a.out.Err(), &a.stderr)
	return message{}
}

type message struct {
	JSONRPC       string
	ID            int
	Result, Error json.RawMessage
}

// message reads the line that was scanned.
func (a *agent) message() (m message) {
	a.t.Helper()
	if err := json.Unmarshal(a.out.Bytes(), &m); err != nil || m.JSONRPC != "2.0" {
		a.t.Errorf("standard output is not clean: %q", a.out.Text())
	}
	return m
}

// call calls a tool and returns its text.
func (a *agent) call(tool string, args map[string]any) string {
	a.t.Helper()
	var res struct {
		Content []struct{ Text string }
		IsError bool
	}
	result := a.request("tools/call", map[string]any{"name": tool, "arguments": args})
	if err := json.Unmarshal(result, &res); err != nil || res.IsError || len(res.Content) == 0 {
		a.t.Fatalf("%s: %s", tool, result)
	}
	return res.Content[0].Text
}

// leave ends the agent and returns what it said beside the protocol.
func (a *agent) leave() string {
	a.t.Helper()
	a.in.Close()
	for a.out.Scan() {
		a.message()
	}
	if err := a.cmd.Wait(); err != nil {
		a.t.Errorf("hearken --stdio: %v", err)
	}
	return a.stderr.String()
}
