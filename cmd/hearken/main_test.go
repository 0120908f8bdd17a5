//go:build !windows

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/pipe"
	"github.com/hearken-dev/hearken/stt/stttest"
)

// TestMain puts a program called hearken into the PATH of the scripts: this
// one, with an engine that says a word every half a second.
func TestMain(m *testing.M) {
	runHearken := func() {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		p := &program{args: scribeArgs(os.Args[0], os.Args[1:]), stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
		p.override = func(o *Options) {
			o.Providers, o.Capture = []hearken.Provider{offlineEngine{stttest.Every("local", 0.5)}}, silentCapture
			o.PINRounds = 1000
			o.Failpoint = crashAt(os.Getenv("HEARKEN_TEST_CRASH"))
		}
		code := p.run(ctx)
		stop()
		os.Exit(code)
	}
	testscript.Main(m, map[string]func(){"hearken": runHearken, "pscribe": runHearken})
}

func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			runtime := shortDir(t)
			env.Vars = append(env.Vars, isolatedEnv(runtime, filepath.Join(env.WorkDir, "data"))...)
			env.Defer(func() { stopHub(t, filepath.Join(env.WorkDir, "data")) })
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"hub": hubCommand,
		},
	})
}

// hubCommand is the command "hub" of the scripts, for the hub of the data
// directory: "hub up" waits until it serves, "hub kill" kills it without warning, "hub
// stop" ends it as an operator would, "hub gone" waits until it has ended, and
// "hub taken" until another than the one that AGENTS names serves.
func hubCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: hub up|kill|stop|gone|taken")
	}
	dir := ts.Getenv("HEARKEN_DATA_DIR")
	var hub pipe.HubInfo
	if !eventually(func() (ok bool) {
		hub, ok = pipe.ReadHubInfo(dir)
		if args[0] == "gone" {
			return !ok
		}
		// "taken": up, and no longer the one that AGENTS names
		return ok && hub.HTTP != "" && (args[0] != "taken" || strconv.Itoa(hub.PID) != ts.Getenv("AGENTS"))
	}) {
		ts.Fatalf("hub %s: %+v", args[0], hub)
	}
	ts.Setenv("HUB_HTTP", hub.HTTP)
	ts.Setenv("HUB_PID", strconv.Itoa(hub.PID))
	sig := map[string]syscall.Signal{"kill": syscall.SIGKILL, "stop": syscall.SIGTERM}[args[0]]
	if sig == 0 {
		return
	}
	ts.Check(syscall.Kill(hub.PID, sig))
	if !eventually(func() bool { return !alive(hub.PID) }) {
		ts.Fatalf("the hub did not end")
	}
}

// isolatedEnv is the environment of a program that uses only its own directories.
func isolatedEnv(runtime, data string) []string {
	return []string{
		"HOME=" + runtime, "XDG_RUNTIME_DIR=" + runtime, "XDG_CONFIG_HOME=" + runtime, "XDG_DATA_HOME=", "TMPDIR=" + runtime,
		"PATH=" + os.Getenv("PATH"), "HEARKEN_DATA_DIR=" + data, "PORT=0", "WS_LISTEN=off", "IDLE_MINUTES=0.2", "TIMEZONE=Europe/Berlin",
	}
}

// shortDir is a private directory whose path is short enough for sockets.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hk")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// stopHub stops the hub of a directory, if there is one.
func stopHub(t *testing.T, dir string) {
	t.Helper()
	hub, ok := pipe.ReadHubInfo(dir)
	if !ok || !alive(hub.PID) {
		return
	}
	_ = syscall.Kill(hub.PID, syscall.SIGTERM)
	if !eventually(func() bool { return !alive(hub.PID) }) {
		_ = syscall.Kill(hub.PID, syscall.SIGKILL)
		t.Errorf("hub %d of %s did not stop", hub.PID, dir)
	}
}

// alive reports whether a process runs. A zombie does not.
func alive(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return !errors.Is(err, os.ErrNotExist) || filepath.Separator == '\\'
	}
	i := bytes.LastIndexByte(stat, ')')
	return i < 0 || i+2 >= len(stat) || stat[i+2] != 'Z'
}

// eventually waits until a condition holds and reports whether it does.
func eventually(condition func() bool) bool {
	deadline := time.NewTimer(20 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline.C:
			return condition()
		}
	}
	return true
}
