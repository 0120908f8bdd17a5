// Package hubtest runs the real program for tests, so that what they show is
// what a user gets: built once, in a data directory of its own, stopped by its
// process id.
package hubtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// built holds the program of this test binary.
var built = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("HEARKEN_BIN"); path != "" {
		return filepath.Abs(path)
	}
	dir, err := os.MkdirTemp("", "hearken-built-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "hearken")
	cmd := exec.Command("go", "build", "-o", path, "github.com/hearken-dev/hearken/cmd/hearken")
	cmd.Stderr = os.Stderr
	return path, cmd.Run()
})

// Binary is the program: the one that HEARKEN_BIN names, or a fresh build.
func Binary(t testing.TB) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatalf("build: %v", err)
	}
	return path
}

// Main runs a package's tests and removes what they built.
func Main(m *testing.M) {
	code := m.Run()
	if path, err := built(); err == nil && os.Getenv("HEARKEN_BIN") == "" {
		os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// A Hub is the program, serving.
type Hub struct {
	URL  string // of its HTTP doors
	Dir  string // its data directory
	Env  []string
	t    testing.TB
	port int
	cmd  *exec.Cmd
	log  *bytes.Buffer
}

// Start runs the program on a free port and waits until it is ready. More
// environment may be given. The program is stopped when the test ends.
func Start(t testing.TB, env ...string) *Hub {
	t.Helper()
	return Open(t, filepath.Join(t.TempDir(), "data"), env...)
}

// Open does what [Start] does with a data directory that may be there already.
// The directory that holds it is the program's home.
func Open(t testing.TB, dir string, env ...string) *Hub {
	t.Helper()
	home := filepath.Dir(dir)
	h := &Hub{t: t, Dir: dir, port: freePort(t)}
	h.URL = "http://127.0.0.1:" + strconv.Itoa(h.port)
	h.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_RUNTIME_DIR=" + home, "HEARKEN_DATA_DIR=" + h.Dir,
		"PORT=" + strconv.Itoa(h.port), "WS_LISTEN=off", "LOG_LEVEL=warn",
	}, env...)
	h.Run()
	t.Cleanup(h.Stop)
	return h
}

// Run starts the program, again after [Hub.Kill], and waits until it is ready.
func (h *Hub) Run() {
	h.t.Helper()
	h.log = &bytes.Buffer{}
	h.cmd = exec.Command(Binary(h.t), "serve")
	h.cmd.Env, h.cmd.Dir, h.cmd.Stderr = h.Env, filepath.Dir(h.Dir), h.log
	if err := h.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	deadline := time.Now().Add(30 * time.Second)
	for {
		resp, err := http.Get(h.URL + "/readyz")
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Now().After(deadline) {
			h.t.Fatalf("the hub is not ready: %v\n%s", err, h.log)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// Kill ends the program as a crash would.
func (h *Hub) Kill() {
	h.cmd.Process.Kill()
	_ = h.cmd.Wait() // killed, as it was meant to be
}

// Stop ends the program as a person would.
func (h *Hub) Stop() {
	if h.cmd.ProcessState != nil {
		return
	}
	_ = h.cmd.Process.Signal(syscall.SIGTERM) // it may have ended already
	timer := time.AfterFunc(20*time.Second, func() { h.cmd.Process.Kill() })
	defer timer.Stop()
	if err := h.cmd.Wait(); err != nil {
		h.t.Errorf("the hub ended with %v\n%s", err, h.log)
	}
}

// Call calls a tool and decodes its structured content.
func (h *Hub) Call(ctx context.Context, tool string, args, result any) error {
	return Call(ctx, h.URL, "", tool, args, result)
}

// Call calls a tool of the hub at a URL, with a key unless it is empty, and
// decodes its structured content.
func Call(ctx context.Context, url, key, tool string, args, result any) error {
	body, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call",
		"params": map[string]any{"name": tool, "arguments": args},
	})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/mcp", bytes.NewReader(body))
	if err != nil {
		return err
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	var answer struct {
		Result struct {
			IsError           bool
			Content           []struct{ Text string }
			StructuredContent json.RawMessage
		}
		Error *struct{ Message string }
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return fmt.Errorf("%s: %s: %w in %.200q", tool, resp.Status, err, data)
	}
	switch {
	case answer.Error != nil:
		return errors.New(answer.Error.Message)
	case answer.Result.IsError:
		return errors.New(answer.Result.Content[0].Text)
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("%s: %s: %.200q", tool, resp.Status, data)
	case result == nil:
		return nil
	}
	return json.Unmarshal(answer.Result.StructuredContent, result)
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
