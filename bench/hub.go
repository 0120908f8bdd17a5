package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A hub is a running program under test.
type hub struct {
	url  string
	dir  string
	cmd  *exec.Cmd
	logs *bytes.Buffer
}

// startHub runs the program on its own data directory, with a null engine
// unless told otherwise, and waits until it answers.
func (b *bench) startHub(ctx context.Context, dir string, env ...string) (*hub, error) {
	h := &hub{dir: dir, logs: &bytes.Buffer{}}
	h.cmd = exec.CommandContext(ctx, b.binary, "serve")
	h.cmd.Env = append(b.env(dir), env...)
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	h.cmd.Stderr = h.logs
	h.cmd.Cancel = func() error { return h.cmd.Process.Signal(syscall.SIGTERM) }
	h.cmd.WaitDelay = 15 * time.Second
	if err := h.cmd.Start(); err != nil {
		return nil, err
	}
	found := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if i := strings.Index(lines.Text(), "http://127.0.0.1:"); i >= 0 {
				url, _, _ := strings.Cut(lines.Text()[i:], " ")
				select {
				case found <- strings.TrimSuffix(strings.TrimRight(url, "/"), "/mcp"):
				default:
				}
			}
		}
		close(found)
	}()
	select {
	case url, ok := <-found:
		if !ok {
			h.stop()
			return nil, fmt.Errorf("the hub did not start: %s", h.logs)
		}
		h.url = url
		return h, nil
	case <-time.After(20 * time.Second):
		h.stop()
		return nil, errors.New("the hub did not say where it listens")
	}
}

// env is a clean environment for the program.
func (b *bench) env(dir string) []string {
	return []string{
		"HOME=" + b.dir, "PATH=" + os.Getenv("PATH"), "XDG_RUNTIME_DIR=" + b.dir,
		"HEARKEN_DATA_DIR=" + dir, "PORT=0", "WS_LISTEN=off", "TRANSCRIPTION_PROVIDER=null", "LOG_LEVEL=warn",
	}
}

func (h *hub) stop() { end(h.cmd, syscall.SIGTERM) }

// end asks a program to end and waits until it has.
func end(cmd *exec.Cmd, by os.Signal) {
	_ = cmd.Process.Signal(by) // it may have ended already
	_ = cmd.Wait()             // what it was to tell is told
}

// kill ends a program as a crash would.
func kill(cmd *exec.Cmd) {
	cmd.Process.Kill()
	_ = cmd.Wait() // killed, as it was meant to be
}

// call calls a tool the plain way and decodes its structured content.
func (h *hub) call(ctx context.Context, tool string, args, result any) error {
	answer, err := h.ask(ctx, tool, args)
	if err != nil || result == nil {
		return err
	}
	return json.Unmarshal(answer.StructuredContent, result)
}

// text calls a tool that answers in text.
func (h *hub) text(ctx context.Context, tool string, args any) (string, error) {
	answer, err := h.ask(ctx, tool, args)
	switch {
	case err != nil:
		return "", err
	case len(answer.Content) == 0 || answer.IsError:
		return "", fmt.Errorf("%s: %v", tool, answer.Content)
	}
	return answer.Content[0].Text, nil
}

// A toolAnswer is what a tool answers with.
type toolAnswer struct {
	StructuredContent json.RawMessage
	Content           []struct{ Text string }
	IsError           bool
}

func (h *hub) ask(ctx context.Context, tool string, args any) (*toolAnswer, error) {
	if args == nil {
		args = struct{}{}
	}
	body, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call",
		"params": map[string]any{"name": tool, "arguments": args},
	})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url+"/mcp", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Result *toolAnswer
		Error  *struct{ Message string }
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, fmt.Errorf("%s: %w in %.200s", tool, err, data)
	}
	if answer.Error != nil {
		return nil, fmt.Errorf("%s: %s", tool, answer.Error.Message)
	}
	if answer.Result == nil {
		return nil, fmt.Errorf("%s: no result in %.200s", tool, data)
	}
	return answer.Result, nil
}

// usage is what the program has used so far: processor time, and the most
// memory it ever had.
func (h *hub) usage() (cpu time.Duration, peak int64, err error) {
	if cpu, err = processorTime(h.cmd.Process.Pid); err != nil {
		return 0, 0, err
	}
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(h.cmd.Process.Pid), "status"))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return cpu, kb << 10, err
		}
	}
	return 0, 0, errors.New("no VmHWM")
}

// processorTime is what a process has used so far.
func processorTime(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+2:]))
	var ticks int64
	for _, f := range fields[11:13] { // utime and stime
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil
}
