package sqlite

import (
	"fmt"
	"testing"
	"time"
)

// SetBusyTimeout sets how long the store waits for another writer.
func SetBusyTimeout(t *testing.T, s *Store, d time.Duration) {
	t.Helper()
	if _, err := s.writes.Exec(fmt.Sprintf(`PRAGMA busy_timeout = %d`, d.Milliseconds())); err != nil {
		t.Fatal(err)
	}
}

// Synchronous returns SQLite's synchronous setting.
func Synchronous(t *testing.T, s *Store) (n int) {
	t.Helper()
	if err := s.writes.QueryRow(`PRAGMA synchronous`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
