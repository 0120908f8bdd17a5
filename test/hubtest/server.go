package hubtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A Server is the program, serving one data directory. It keeps its address
// when it is killed and started again.
type Server struct {
	Program
	Dir string // the data directory

	cmd *exec.Cmd
	log *lockedBuffer
}

// NewServer prepares a server. Its environment holds nothing of the caller's
// but PATH; what is given comes last and wins.
func NewServer(bin, dir string, env ...string) (*Server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	home := filepath.Dir(dir)
	s := &Server{Dir: dir, log: &lockedBuffer{}}
	s.Bin, s.URL = bin, "http://127.0.0.1:"+strconv.Itoa(port)
	s.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_RUNTIME_DIR=" + home, "HEARKEN_DATA_DIR=" + dir,
		"PORT=" + strconv.Itoa(port), "WS_LISTEN=off", "LOG_LEVEL=warn",
	}, env...)
	return s, os.MkdirAll(home, 0o700)
}

// ListenWebSocket has the program take JSON-RPC over WebSocket at the returned
// address when it starts.
func (s *Server) ListenWebSocket() (url string, err error) {
	port, err := freePort()
	address := "127.0.0.1:" + strconv.Itoa(port)
	s.Env = append(s.Env, "WS_LISTEN="+address)
	return "ws://" + address, err
}

// Start runs the program and waits until it is ready.
func (s *Server) Start(ctx context.Context) error {
	if err := s.launch(); err != nil {
		return err
	}
	err := Poll(ctx, 30*time.Second, 20*time.Millisecond, func() (bool, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/readyz", nil)
		if err != nil {
			return false, err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return false, nil // not yet
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK, nil
	})
	if err != nil {
		s.Kill()
		return fmt.Errorf("the hub is not ready: %w\n%s", err, s.Log())
	}
	return nil
}

// KillWhileStarting starts the program and kills it after d, which may be
// before it is ready.
func (s *Server) KillWhileStarting(ctx context.Context, d time.Duration) error {
	if err := s.launch(); err != nil {
		return err
	}
	Sleep(ctx, d)
	s.Kill()
	return nil
}

func (s *Server) launch() error {
	s.cmd = exec.Command(s.Bin, "serve")
	s.cmd.Env, s.cmd.Dir, s.cmd.Stderr = s.Env, filepath.Dir(s.Dir), s.log
	return s.cmd.Start()
}

// running reports whether the program was started and not waited for.
func (s *Server) running() bool {
	return s.cmd != nil && s.cmd.Process != nil && s.cmd.ProcessState == nil
}

// Kill ends the program as a crash would.
func (s *Server) Kill() {
	if !s.running() {
		return
	}
	s.cmd.Process.Kill()
	_ = s.cmd.Wait() // it was killed
}

// Stop ends the program as a person would.
func (s *Server) Stop() error {
	if !s.running() {
		return nil
	}
	if runtime.GOOS == "windows" { // it has no such signal
		s.Kill()
		return nil
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended already
	timer := time.AfterFunc(20*time.Second, func() { s.cmd.Process.Kill() })
	defer timer.Stop()
	if err := s.cmd.Wait(); err != nil {
		return fmt.Errorf("the hub ended with %w\n%s", err, s.Log())
	}
	return nil
}

// PID is the program's process id.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Log is what the program has written to standard error.
func (s *Server) Log() string { return s.log.String() }

// lockedBuffer can be read while a process writes to it.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// FreePort is a free TCP port on this computer.
func FreePort(t testing.TB) int {
	t.Helper()
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// freePort finds a port below those that systems give to outgoing connections,
// so that nothing takes it while a killed hub is down.
func freePort() (int, error) {
	for range 100 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 20000+rand.IntN(12000)))
		if err == nil {
			defer l.Close()
			return l.Addr().(*net.TCPAddr).Port, nil
		}
	}
	return 0, errors.New("no free port between 20000 and 32000")
}
