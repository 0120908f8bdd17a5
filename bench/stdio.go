package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// handshake is what a client sends to see the tools.
const handshake = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`

// measureStdio times an agent's way in: a new process, until it has the tools.
func measureStdio(ctx context.Context, b *bench) error {
	dir := filepath.Join(b.dir, "stdio")
	if _, err := seed(ctx, dir, make([]int, 10000)); err != nil {
		return err
	}
	n := 40
	if b.quick {
		n = 8
	}
	h, err := b.startHub(ctx, dir)
	if err != nil {
		return err
	}
	var joined sample
	for range n {
		d, err := b.listTools(ctx, dir)
		if err != nil {
			h.stop()
			return err
		}
		joined = append(joined, d)
	}
	h.stop()
	b.rows.add("`hearken --stdio`, start to tools/list, hub running, p50", "max", 50, ms(joined.at(0.5)), "ms", fmt.Sprintf("p95 %.0f ms, %d starts", ms(joined.at(0.95)), n))

	var started sample
	for range n {
		d, err := b.listTools(ctx, dir, "IDLE_MINUTES=0.02")
		if err != nil {
			return err
		}
		started = append(started, d)
		if err := b.waitForNoHub(ctx, dir); err != nil {
			return err
		}
	}
	b.rows.add("`hearken --stdio`, start to tools/list, hub must start, p95", "max", 100, ms(started.at(0.95)), "ms", fmt.Sprintf("p50 %.0f ms, %d starts", ms(started.at(0.5)), n))
	return nil
}

// listTools runs a client process until it has answered tools/list.
func (b *bench) listTools(ctx context.Context, dir string, env ...string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.binary, "--stdio")
	cmd.Env = append(b.env(dir), env...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	if _, err := in.Write([]byte(handshake)); err != nil {
		return 0, err
	}
	lines := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			err = errors.Join(err, cmd.Wait()) // with all that it said
			return 0, fmt.Errorf("no answer to tools/list: %w: %s", err, &stderr)
		}
		if strings.Contains(line, `"tools":[`) {
			break
		}
	}
	took := time.Since(begun)
	in.Close()
	return took, cmd.Wait()
}

// waitForNoHub waits until the hub that a client started has ended.
func (b *bench) waitForNoHub(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		cmd := exec.CommandContext(ctx, b.binary, "version", "--hub")
		cmd.Env = b.env(dir)
		out, err := cmd.CombinedOutput()
		if err == nil && strings.Contains(string(out), "no hub") {
			return nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("the hub does not end: %s", out)
		}
	}
}
