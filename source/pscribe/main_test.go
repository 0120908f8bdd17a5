package pscribe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// A reply is what the stand-in for ParrotScribe does when it is asked.
type reply struct {
	Stdout, Stderr []byte
	Exit           int
	Flood          bool // print without end
	// Wait is an address to call before the answer; it comes when the other
	// side hangs up.
	Wait string
	// Child leaves another process behind that calls Wait and keeps the output
	// open, and does not wait itself.
	Child bool
	// Last is the answer from the second time on.
	Last *reply
	Kill bool // end by a signal
}

// standIn is the test's own binary, copied so that it is another program.
var standIn string

// TestMain is the stand-in if replies lie beside the binary, and else the
// tests.
func TestMain(m *testing.M) {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	if b, err := os.ReadFile(filepath.Join(filepath.Dir(self), "replies.json")); err == nil {
		os.Exit(answer(filepath.Dir(self), b, os.Args[1:]))
	}
	dir, err := os.MkdirTemp("", "pscribe")
	if err != nil {
		panic(err)
	}
	standIn = filepath.Join(dir, "pscribe")
	if runtime.GOOS == "windows" {
		standIn += ".exe"
	}
	if err := copyFile(standIn, self); err != nil {
		panic(err)
	}
	os.Setenv("GORACE", os.Getenv("GORACE")+" atexit_sleep_ms=0") // a second for each stand-in
	code := m.Run()
	os.RemoveAll(dir)
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func answer(dir string, replies []byte, args []string) int {
	calls, err := os.OpenFile(filepath.Join(dir, "calls"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	line, _ := json.Marshal(args)
	calls.Write(append(line, '\n'))
	calls.Close()
	var all map[string]reply
	if err := json.Unmarshal(replies, &all); err != nil {
		panic(err)
	}
	r := all[args[0]]
	if r.Last != nil {
		b, _ := os.ReadFile(filepath.Join(dir, "calls"))
		if bytes.Count(b, []byte(`["`+args[0]+`"`)) > 1 {
			r = *r.Last
		}
	}
	os.Stdout.Write(r.Stdout)
	os.Stderr.Write(r.Stderr)
	if r.Child {
		self, _ := os.Executable()
		child := exec.Command(self, "child")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			panic(err)
		}
	}
	for r.Flood {
		if _, err := os.Stdout.Write(bytes.Repeat([]byte("flood\n"), 1000)); err != nil {
			return 1
		}
	}
	if r.Wait != "" {
		c, err := net.Dial("tcp", r.Wait)
		if err != nil {
			panic(err)
		}
		io.Copy(io.Discard, c)
	}
	if r.Kill {
		p, _ := os.FindProcess(os.Getpid())
		p.Kill()
		select {}
	}
	return r.Exit
}

// A cli is a stand-in in a directory of its own.
type cli struct {
	t    *testing.T
	path string
}

func newCLI(t *testing.T, replies map[string]reply) *cli {
	t.Helper()
	c := &cli{t: t, path: filepath.Join(t.TempDir(), filepath.Base(standIn))}
	if os.Link(standIn, c.path) != nil {
		if err := copyFile(c.path, standIn); err != nil {
			t.Fatal(err)
		}
	}
	c.set(replies)
	return c
}

func (c *cli) set(replies map[string]reply) {
	c.t.Helper()
	b, err := json.Marshal(replies)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(c.path), "replies.json"), b, 0o600); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cli) scribe() *Scribe { return New(Config{Path: c.path}) }

// calls are the arguments of each run so far, joined by spaces.
func (c *cli) calls() []string {
	c.t.Helper()
	b, err := os.ReadFile(filepath.Join(filepath.Dir(c.path), "calls"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		c.t.Fatal(err)
	}
	var calls []string
	for line := range strings.Lines(string(b)) {
		var args []string
		if err := json.Unmarshal([]byte(line), &args); err != nil {
			c.t.Fatal(err)
		}
		calls = append(calls, strings.Join(args, " "))
	}
	return calls
}

func says(stdout string) reply { return reply{Stdout: []byte(stdout)} }

func fails(stderr string) reply { return reply{Stderr: []byte(stderr), Exit: 1} }

// listen waits for stand-ins that wait.
func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func accept(t *testing.T, l net.Listener) net.Conn {
	t.Helper()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func copyFile(to, from string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o700)
}
