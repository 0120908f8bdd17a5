package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/hearken-dev/hearken/test/hubtest"
	"github.com/hearken-dev/hearken/test/upgrade"
)

// A hub is the program with a home directory of its own.
type hub struct {
	*hubtest.Server
	home string
	env  []string // of every start
}

func newHub(bin, home string, env []string) (*hub, error) {
	s, err := hubtest.NewServer(bin, filepath.Join(home, "data"), append([]string{"TZ=UTC", "TIMEZONE=" + upgrade.Zone}, env...)...)
	if err != nil {
		return nil, err
	}
	return &hub{s, home, s.Env}, nil
}

// start runs the hub with more environment and waits until it is ready.
func (h *hub) start(ctx context.Context, env ...string) error {
	h.Env = slices.Concat(h.env, env)
	return h.Start(ctx)
}

// waitUntil polls for at most 30 s until something is so.
func waitUntil(ctx context.Context, what string, so func() (bool, error)) error {
	if err := hubtest.Poll(ctx, 30*time.Second, 50*time.Millisecond, so); err != nil {
		return fmt.Errorf("waiting until %s: %w", what, err)
	}
	return nil
}
