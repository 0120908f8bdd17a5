package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hearken-dev/hearken/test/hubtest"
)

// A bench runs one scenario. It is a [testing.TB], so that scenarios use the
// harnesses of the tests. As in tests, only the scenario's own goroutine may
// call Fatal.
type bench struct {
	testing.TB // nil, but its private method makes this a TB

	name  string
	dir   string // for temporary files of all scenarios
	quick bool
	table *table
	ctx   context.Context

	mu       sync.Mutex
	failed   bool
	cleanups []func()
}

// run runs a scenario to its end and reports whether it succeeded.
func (b *bench) run(ctx context.Context, scenario func(b *bench)) bool {
	var cancel context.CancelFunc
	b.ctx, cancel = context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { // so that Fatal can end it
		defer close(done)
		defer func() {
			cancel()
			for _, f := range slices.Backward(b.cleanups) {
				f()
			}
		}()
		scenario(b)
	}()
	<-done
	return !b.Failed()
}

func (b *bench) Name() string             { return b.name }
func (b *bench) Helper()                  {}
func (b *bench) Context() context.Context { return b.ctx }

func (b *bench) Cleanup(f func()) { b.cleanups = append(b.cleanups, f) }

func (b *bench) TempDir() string {
	dir, err := os.MkdirTemp(b.dir, "")
	b.check(err)
	b.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (b *bench) Log(args ...any)                 { fmt.Fprint(os.Stderr, "    ", fmt.Sprintln(args...)) }
func (b *bench) Logf(format string, args ...any) { b.Log(fmt.Sprintf(format, args...)) }

func (b *bench) Error(args ...any) {
	b.mu.Lock()
	b.failed = true
	b.mu.Unlock()
	b.Log(args...)
}

func (b *bench) Errorf(format string, args ...any) { b.Error(fmt.Sprintf(format, args...)) }

func (b *bench) Failed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failed
}

func (b *bench) Fatal(args ...any) {
	b.Error(args...)
	runtime.Goexit()
}

func (b *bench) Fatalf(format string, args ...any) { b.Fatal(fmt.Sprintf(format, args...)) }

// check ends the scenario if there is an error.
func (b *bench) check(err error) {
	if err != nil {
		b.Fatal(err)
	}
}

// pick chooses between the size of a full run and that of a quick one.
func pick[T any](b *bench, full, quick T) T {
	if b.quick {
		return quick
	}
	return full
}

// dataDir is a new data directory with a home of its own.
func (b *bench) dataDir() string {
	dir := filepath.Join(b.TempDir(), "data")
	b.check(os.Mkdir(dir, 0o700))
	return dir
}

// hub runs the program on a data directory, without an engine unless the
// environment names one.
func (b *bench) hub(dir string, env ...string) *hubtest.Hub {
	return hubtest.Open(b, dir, append([]string{"TRANSCRIPTION_PROVIDER=null"}, env...)...)
}

// sleep waits, unless the scenario is interrupted.
func (b *bench) sleep(d time.Duration) { hubtest.Sleep(b.ctx, d) }
