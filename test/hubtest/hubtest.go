// Package hubtest runs the real program for tests and benchmarks: built once,
// in a data directory of its own, on a free port. It holds the one launcher,
// the one poller, the one MCP client and the one sender of audio that all tests
// of the whole program share.
package hubtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// built builds the program once for this process.
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

// Binary is the path of the program: the one that HEARKEN_BIN names, or a fresh
// build.
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

// A Hub is a [Server] of a test, which fails if the server does.
type Hub struct {
	*Server
	t testing.TB
}

// Start runs the program in a new data directory and waits until it is ready.
// More environment may be given. The program is stopped when the test ends.
func Start(t testing.TB, env ...string) *Hub {
	t.Helper()
	return Open(t, filepath.Join(t.TempDir(), "data"), env...)
}

// Open does what [Start] does with a data directory that may exist already.
// The directory that holds it is the program's home.
func Open(t testing.TB, dir string, env ...string) *Hub {
	t.Helper()
	s, err := NewServer(Binary(t), dir, env...)
	if err != nil {
		t.Fatal(err)
	}
	h := &Hub{s, t}
	t.Cleanup(h.Stop)
	h.Run()
	return h
}

// Run starts the program, for example after [Server.Kill], and waits until it
// is ready.
func (h *Hub) Run() {
	h.t.Helper()
	if err := h.Server.Start(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
}

// Stop ends the program as a person would.
func (h *Hub) Stop() {
	h.t.Helper()
	if err := h.Server.Stop(); err != nil {
		h.t.Error(err)
	}
}

// Command runs one of the program's commands, which must succeed, and returns
// its standard output.
func (h *Hub) Command(env []string, args ...string) string {
	h.t.Helper()
	out, err := h.RunWith(h.t.Context(), env, args...)
	if err != nil {
		h.t.Fatal(err)
	}
	return out
}
