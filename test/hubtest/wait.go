package hubtest

import (
	"context"
	"errors"
	"testing"
	"time"
)

// Sleep waits for d and reports whether ctx is still alive.
func Sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Poll calls done again and again until it returns true or an error, or until
// the timeout has passed.
func Poll(ctx context.Context, timeout, every time.Duration, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errors.New("timed out after "+timeout.String()))
	defer cancel()
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		if !Sleep(ctx, every) {
			return context.Cause(ctx)
		}
	}
}

// WaitUntil polls until a condition holds. If it does not within the timeout,
// the test ends with what was waited for.
func WaitUntil(t testing.TB, timeout time.Duration, what string, holds func() bool) {
	t.Helper()
	if err := Poll(t.Context(), timeout, 10*time.Millisecond, func() (bool, error) { return holds(), nil }); err != nil {
		t.Fatalf("waiting until %s: %v", what, err)
	}
}
