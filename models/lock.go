package models

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hearken-dev/hearken/files"
)

// lock keeps two processes from changing the files at once. It waits for the
// other one, after calling waiting once, and returns a function that releases
// the lock.
func lock(ctx context.Context, root string, waiting func()) (release func(), err error) {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, fmt.Errorf("make model directory: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(root, ".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, err := files.TryLock(f)
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("lock model directory: %w", err)
		}
		if ok {
			return func() { f.Close() }, nil
		}
		if waiting != nil {
			waiting()
			waiting = nil
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
}
