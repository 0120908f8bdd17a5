package sqlite

import (
	"fmt"
	"testing"
	"time"
)

// SetPatience sets how long the store waits for others.
func SetPatience(t *testing.T, s *Store, d time.Duration) {
	t.Helper()
	if _, err := s.writes.Exec(fmt.Sprintf(`PRAGMA busy_timeout = %d`, d.Milliseconds())); err != nil {
		t.Fatal(err)
	}
}
