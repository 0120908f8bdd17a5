package pipe

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/hearken-dev/hearken"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// runtimeDir gives the test a runtime directory of its own, short enough for a
// socket.
func runtimeDir(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("", "hk")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Setenv("XDG_RUNTIME_DIR", dir)
}

// startHub is a hub that echoes lines, each with its client's provider.
func startHub(t *testing.T, dir string) {
	t.Helper()
	lock, err := Acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Describe(l.Addr().String(), "http://127.0.0.1:1", "sqlite at here"); err != nil {
		t.Fatal(err)
	}
	s := &Server{
		Log: slog.New(slog.DiscardHandler),
		Accept: func(_ context.Context, h Hello) (Welcome, error) {
			if h.Store != "sqlite at here" {
				return Welcome{}, hearken.Errorf(hearken.Invalid, "The store is here.").WithTry("here")
			}
			return Welcome{OK: true, HTTP: "http://127.0.0.1:1"}, nil
		},
		Handle: func(_ context.Context, h Hello, conn net.Conn) {
			in := bufio.NewScanner(conn)
			for in.Scan() {
				fmt.Fprintf(conn, "%s %s\n", h.Provider, in.Text())
			}
		},
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		lock.Release()
	})
}

func TestDial(t *testing.T) {
	runtimeDir(t)
	dir := t.TempDir()
	startHub(t, dir)

	t.Run("Joins", func(t *testing.T) {
		conn, welcome, err := Dial(t.Context(), dir, Hello{Provider: "local", Store: "sqlite at here"})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if welcome.HTTP != "http://127.0.0.1:1" {
			t.Errorf("welcome names %q", welcome.HTTP)
		}
		fmt.Fprintln(conn, "hello")
		got, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil || got != "local hello\n" {
			t.Errorf("got %q, %v", got, err)
		}
	})
	t.Run("Refused", func(t *testing.T) {
		_, _, err := Dial(t.Context(), dir, Hello{Store: "postgres at there"})
		e, ok := errors.AsType[*hearken.Error](err)
		if !ok || e.Code != hearken.Invalid || e.Message != "The store is here." || e.Try != "here" {
			t.Errorf("got %#v", err)
		}
	})
	t.Run("AnotherRuntimeDir", func(t *testing.T) {
		// Agents start their servers with an environment of their own.
		runtimeDir(t)
		conn, _, err := Dial(t.Context(), dir, Hello{Store: "sqlite at here"})
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
	})
	t.Run("Garbage", func(t *testing.T) {
		raw, err := dial(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		defer raw.Close()
		fmt.Fprintln(raw, "GET / HTTP/1.1")
		got, err := io.ReadAll(raw)
		if err != nil || !strings.Contains(string(got), `"error"`) {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

func TestDial_NoHub(t *testing.T) {
	runtimeDir(t)
	dir := t.TempDir()
	if _, _, err := Dial(t.Context(), dir, Hello{}); !errors.Is(err, ErrNoHub) {
		t.Errorf("got %v", err)
	}
	// A hub that was killed leaves its socket and its info file.
	path, err := SocketPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	os.WriteFile(filepath.Join(dir, infoName), []byte(`{"pid":1,"socket":"`+path+`"}`), 0o600)
	if _, _, err := Dial(t.Context(), dir, Hello{}); !errors.Is(err, ErrNoHub) {
		t.Errorf("with a stale socket: got %v", err)
	}
	startHub(t, dir) // replaces it
	conn, _, err := Dial(t.Context(), dir, Hello{Store: "sqlite at here"})
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
}

func TestAcquire_Held(t *testing.T) {
	runtimeDir(t)
	dir := t.TempDir()
	startHub(t, dir)
	_, err := Acquire(dir)
	if !errors.Is(err, ErrHeld) || hearken.CodeOf(err) != hearken.Busy {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{dir, fmt.Sprint(os.Getpid()), "http://127.0.0.1:1"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not name %s", err, want)
		}
	}
}

func TestAcquire_Unwritable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Acquire(filepath.Join(file, "data")); hearken.CodeOf(err) != hearken.RepositoryError {
		t.Errorf("got %v", err)
	}
}

func TestSocketPath(t *testing.T) {
	runtimeDir(t)
	deep := filepath.Join(t.TempDir(), strings.Repeat("deep/", 60))
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	path, err := SocketPath(deep)
	if err != nil || len(path) >= maxSocketPath {
		t.Errorf("got %q, %v", path, err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(deep, link); err != nil {
		t.Fatal(err)
	}
	if got, _ := SocketPath(link); got != path {
		t.Errorf("a link leads to %q instead of %q", got, path)
	}
	if got, _ := SocketPath(t.TempDir()); got == path {
		t.Error("two directories share a socket")
	}

	// A runtime directory that others can enter is not used.
	open := t.TempDir()
	os.Chmod(open, 0o755)
	t.Setenv("XDG_RUNTIME_DIR", open)
	if got, err := SocketPath(deep); err != nil || strings.HasPrefix(got, open) {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestDialOrStart_Race has many processes start a hub at once: one succeeds, and
// all of them connect to it.
func TestDialOrStart_Race(t *testing.T) {
	runtimeDir(t)
	dir := t.TempDir()
	turn := make(chan struct{}, 1)
	turn <- struct{}{}
	start := func(context.Context) error {
		select {
		case <-turn:
			startHub(t, dir)
			return nil
		default:
			return hearken.Errorf(hearken.Busy, "Another one is faster.")
		}
	}
	errs := make(chan error)
	for range 8 {
		go func() {
			conn, _, err := DialOrStart(t.Context(), dir, Hello{Store: "sqlite at here"}, start)
			if err == nil {
				conn.Close()
			}
			errs <- err
		}()
	}
	for range 8 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}
