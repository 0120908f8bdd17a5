//go:build unix

package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hearken-dev/hearken/pipe"
)

// TestApp_LockRemoved: neither a second hub nor a single command opens a data
// directory whose hub runs, although its lock file is gone.
func TestApp_LockRemoved(t *testing.T) {
	cfg := testConfig(t)
	openApp(t, cfg, Options{})
	if err := os.Remove(filepath.Join(cfg.DataDir, "hub.lock")); err != nil {
		t.Fatal(err)
	}
	for _, opts := range []Options{{}, {Brief: true}} {
		if _, err := Open(t.Context(), cfg, opts); !errors.Is(err, pipe.ErrHeld) {
			t.Errorf("brief %t: %v", opts.Brief, err)
		}
	}
}

// TestApp_LockOfACommand: a hub does not start beside a single command either.
func TestApp_LockOfACommand(t *testing.T) {
	cfg := testConfig(t)
	openApp(t, cfg, Options{Brief: true})
	if err := os.Remove(filepath.Join(cfg.DataDir, "hub.lock")); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), cfg, Options{}); !errors.Is(err, pipe.ErrHeld) {
		t.Error(err)
	}
}
