package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// The packages that the scribe is measured with: the SDK that ParrotScribe's
// own server was made with, in its version, and a tokenizer.
var scribePackages = []string{"@modelcontextprotocol/sdk@1.25.2", "gpt-tokenizer@3.4.0"}

// installScribePeers fetches them and writes the scripts that use them.
func (b *bench) installScribePeers(ctx context.Context) (modules, scripts string, err error) {
	if modules, err = installPeers(ctx, "bench-scribe", scribePackages); err != nil {
		return "", "", err
	}
	scripts = filepath.Join(b.dir, "scribe-peers")
	return modules, scripts, errors.Join(os.MkdirAll(scripts, 0o700), writeScripts(scripts))
}

// slowCLI is how long the stand-in for ParrotScribe's CLI needs for whole
// sessions.
const slowCLI = 3 * time.Second

// measureScribeCLI holds pscribe_tail on a CLI against the calls that
// ParrotScribe's own server made, in turns and with the same stand-in.
func measureScribeCLI(ctx context.Context, b *bench) (err error) {
	rounds, calls := 5, 30
	if b.quick {
		rounds, calls = 2, 10
	}
	modules, scripts, err := b.installScribePeers(ctx)
	if err != nil {
		return err
	}
	cli, err := writeCLI(b.dir)
	if err != nil {
		return err
	}
	dir := filepath.Join(b.dir, "cli")
	env := append(b.env(dir), "PSCRIBE_PATH="+cli, "SCRIBE_BACKEND=pscribe", "IDLE_MINUTES=0.02")
	ours, err := startStdio(ctx, env, b.binary, "--stdio")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.waitForNoHub(ctx, dir)) }()
	defer ours.stop()
	theirs, err := startStdio(ctx, append(os.Environ(), "PSCRIBE_PATH="+cli), "node", filepath.Join(scripts, "parrotscribe.mjs"), modules)
	if err != nil {
		return err
	}
	defer theirs.stop()
	servers := []*stdioServer{ours, theirs}
	var alone, beside [2][]float64
	for range rounds {
		for i, s := range servers {
			var times sample
			for range calls {
				d, err := s.tail()
				if err != nil {
					return err
				}
				times = append(times, d)
			}
			alone[i] = append(alone[i], ms(times.at(0.5)))
		}
		for i, s := range servers {
			times, err := s.tailsBeside(ctx, calls)
			if err != nil {
				return err
			}
			beside[i] = append(beside[i], ms(times.at(0.5)))
		}
	}
	ratio := func(a, b []float64) (list []float64) {
		for i := range a {
			list = append(list, a[i]/b[i])
		}
		return list
	}
	const other = "how many times as long a re-creation of ParrotScribe's own server needs (its calls, TypeScript SDK, execFileSync)"
	slower, delayed, later := ratio(alone[1], alone[0]), ratio(beside[1], beside[0]), ratio(beside[0], alone[0])
	b.rows.add("`pscribe_tail` on the CLI backend, p50, "+other, "min", 1, median(slower), "", spread(slower))
	b.rows.add("`pscribe_tail` while another CLI call takes 3 s, p50, "+other, "min", 1, median(delayed), "", spread(delayed))
	b.rows.add("`pscribe_tail` while another CLI call takes 3 s, p50, against the same with nothing beside it", "max", 1.5, median(later), "", spread(later))
	b.rows.add("`pscribe_tail` on the CLI backend, p50", "", 0, median(alone[0]), "ms", spread(alone[0])+", beside a slow call "+spread(beside[0]))
	b.rows.add("the re-creation, p50", "", 0, median(alone[1]), "ms", spread(alone[1])+", beside a slow call "+spread(beside[1]))
	return nil
}

// writeCLI writes a stand-in for ParrotScribe's CLI that prints ten rows at
// once, and whole sessions after a while.
func writeCLI(dir string) (string, error) {
	t := newTalker()
	var rows strings.Builder
	for i := 1; i <= 10; i++ {
		fmt.Fprintf(&rows, "2026-01-15T14:30:%02d+01:00,%c,C,%d,0.9%d,2.5,en,%s\n", i, "MS"[i%2], i, i%10, t.sentence())
	}
	script := fmt.Sprintf("#!/bin/sh\n[ \"$1\" = cat ] && sleep %.0f\nprintf '%%s' '%s'\n", slowCLI.Seconds(), rows.String())
	path := filepath.Join(dir, "pscribe")
	return path, os.WriteFile(path, []byte(script), 0o700)
}

// A stdioServer is an MCP server on standard input and output.
type stdioServer struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	said strings.Builder
	id   int
}

// startStdio starts a server and shakes hands with it.
func startStdio(ctx context.Context, env []string, command ...string) (*stdioServer, error) {
	s := &stdioServer{cmd: exec.CommandContext(ctx, command[0], command[1:]...), id: 2}
	s.cmd.Env, s.cmd.Stderr = env, &s.said
	s.cmd.WaitDelay = 5 * time.Second
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewReaderSize(out, 1<<20)
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	if _, err = io.WriteString(s.in, handshake); err == nil {
		err = s.await(2)
	}
	if err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

func (s *stdioServer) stop() {
	s.in.Close()
	_ = s.cmd.Wait() // what it was to tell is told
}

// send calls a tool without waiting for its answer.
func (s *stdioServer) send(tool string, args any) (id int, err error) {
	s.id++
	line, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": s.id, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": args},
	})
	if err == nil {
		_, err = s.in.Write(append(line, '\n'))
	}
	return s.id, err
}

// await reads until the answer to a request has come. It must be one of
// success.
func (s *stdioServer) await(id int) error {
	for {
		line, err := s.out.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("%s: %w: %s", s.cmd.Path, err, &s.said)
		}
		var m struct {
			ID     int
			Result *struct{ IsError bool }
			Error  json.RawMessage
		}
		if json.Unmarshal(line, &m) != nil || m.ID != id {
			continue
		}
		if m.Result == nil || m.Result.IsError {
			return fmt.Errorf("%s: %.300s", s.cmd.Path, line)
		}
		return nil
	}
}

// tail times one call.
func (s *stdioServer) tail() (time.Duration, error) {
	begun := time.Now()
	id, err := s.send("pscribe_tail", map[string]any{"n": 10})
	if err == nil {
		err = s.await(id)
	}
	return time.Since(begun), err
}

// tailsBeside times calls while the CLI is busy with another, as many of them
// as there is time for.
func (s *stdioServer) tailsBeside(ctx context.Context, calls int) (times sample, err error) {
	begun := time.Now()
	slow, err := s.send("pscribe_cat", map[string]any{"last": 1})
	if err != nil {
		return nil, err
	}
	wait(ctx, 100*time.Millisecond)
	for range calls {
		d, err := s.tail()
		if err != nil {
			return nil, err
		}
		times = append(times, d)
		if time.Since(begun) > slowCLI-500*time.Millisecond {
			return times, nil // the slow answer has gone by, or will
		}
	}
	return times, s.await(slow)
}
