package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/hearken-dev/hearken/test/upgrade"
)

// A hub is the program with a home directory of its own.
type hub struct {
	upgrade.Program
	home string
	cmd  *exec.Cmd
	log  bytes.Buffer
}

// newHub prepares a hub. Its environment holds nothing of the caller's.
func newHub(bin, home string, env []string) *hub {
	h := &hub{home: home}
	h.Bin = bin
	h.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_RUNTIME_DIR=" + home, "HEARKEN_DATA_DIR=" + h.data(),
		"WS_LISTEN=off", "LOG_LEVEL=warn", "TZ=UTC", "TIMEZONE=" + upgrade.Zone,
	}, env...)
	return h
}

func (h *hub) data() string { return filepath.Join(h.home, "data") }

// start runs the hub with more environment and waits until it is ready.
func (h *hub) start(ctx context.Context, env ...string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	h.URL = "http://127.0.0.1:" + strconv.Itoa(port)
	h.cmd = exec.Command(h.Bin, "serve")
	h.cmd.Dir, h.cmd.Stderr = h.home, &h.log
	h.cmd.Env = slices.Concat(h.Env, []string{"PORT=" + strconv.Itoa(port)}, env)
	if err := h.cmd.Start(); err != nil {
		return err
	}
	return waitUntil(ctx, "the hub is ready", func() (bool, error) {
		resp, err := http.Get(h.URL + "/readyz")
		if err != nil {
			return false, nil // not yet
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK, nil
	})
}

// stop ends the hub as a person would.
func (h *hub) stop() error {
	if h.cmd == nil || h.cmd.ProcessState != nil {
		return nil
	}
	err := h.cmd.Process.Signal(syscall.SIGTERM)
	timer := time.AfterFunc(20*time.Second, func() { _ = h.cmd.Process.Kill() })
	defer timer.Stop()
	if err = errors.Join(err, h.cmd.Wait()); err != nil {
		return fmt.Errorf("the hub ended with %w: %s", err, &h.log)
	}
	return nil
}

// kill ends the hub as a crash would.
func (h *hub) kill() {
	_ = h.cmd.Process.Kill()
	_ = h.cmd.Wait() // says that it was killed
}

// waitUntil asks every 50 ms whether something is so, for at most 30 s.
func waitUntil(ctx context.Context, what string, so func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if ok, err := so(); ok || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting until %s: %w", what, ctx.Err())
		}
	}
}
