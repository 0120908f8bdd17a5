package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// children are what this program does when it starts itself, in a process whose
// resources can be measured.
var children = map[string]func(ctx context.Context, args []string) error{
	"bare-sdk-server": serveBareSDK,
	"bare-relay":      serveBareRelay,
	"deepgram":        serveDeepgram,
	"engine-runner":   serveEngineRunner,
	"engine-load":     loadEngine,
	"engine-silence":  streamSilence,
}

// self is this program as one of the children.
func (b *bench) self(child string, args ...string) *exec.Cmd {
	path, err := os.Executable()
	b.check(err)
	cmd := exec.CommandContext(b.ctx, path, append([]string{child}, args...)...)
	cmd.Stderr = os.Stderr
	return cmd
}

// serve starts a child that serves until the scenario ends, and returns its
// address and process.
func (b *bench) serve(child string, args ...string) (url string, pid int) {
	cmd := b.self(child, args...)
	out, err := cmd.StdoutPipe()
	b.check(err)
	b.check(cmd.Start())
	b.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended already
		_ = cmd.Wait()                          // it was told to end
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatalf("%s: %v", child, err)
	}
	return strings.TrimSpace(line), cmd.Process.Pid
}

// serveLoopback serves on a free port, whose address it prints.
func serveLoopback(ctx context.Context, handler http.Handler) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "http://%s\n", l.Addr())
	srv := &http.Server{Handler: handler}
	context.AfterFunc(ctx, func() { srv.Close() })
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// cpuTime is the processor time that a process has used so far.
func (b *bench) cpuTime(pid int) time.Duration {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	b.check(err)
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+2:]))
	var ticks int64
	for _, f := range fields[11:13] { // utime and stime
		n, err := strconv.ParseInt(f, 10, 64)
		b.check(err)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// memory is a number of bytes from a process's status: "VmHWM" for the most
// that it ever had, "VmRSS" for what it has.
func (b *bench) memory(pid int, name string) int64 {
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	b.check(err)
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			b.check(err)
			return kb << 10
		}
	}
	b.Fatalf("process %d has no %s", pid, name)
	return 0
}
