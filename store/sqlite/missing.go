package sqlite

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/hearken-dev/hearken"
)

// Files that SQLite keeps beside a database, and deletes if they belong to none.
const (
	walSuffix     = "-wal"
	journalSuffix = "-journal"
	shmSuffix     = "-shm"
)

// checkLogs fails if the database is gone or empty and a log of it is left. A
// rollback journal beside an empty file is no such log: another process may be
// creating the database.
func checkLogs(path string) error {
	info, err := os.Stat(path)
	gone := errors.Is(err, os.ErrNotExist)
	if !gone && (err != nil || info.Size() > 0) {
		return nil
	}
	suffixes, state := []string{walSuffix}, "empty"
	if gone {
		suffixes, state = append(suffixes, journalSuffix), "missing"
	}
	for _, suffix := range suffixes {
		if _, err := os.Stat(path + suffix); err == nil {
			return hearken.Errorf(hearken.NotFound, "The database %s is %s, but %s, which holds its last changes, is still there.", path, state, path+suffix)
		}
	}
	return nil
}

func emptyError(path string) error {
	return hearken.Errorf(hearken.NotFound, "The database %s is empty.", path)
}

// SetAside renames what is left of a database that [OpenExisting] did not find,
// so that a new one can be created and nothing is lost. It returns the new names.
func SetAside(path string, now time.Time) (kept []string, err error) {
	for _, suffix := range []string{"", walSuffix, journalSuffix, shmSuffix} {
		target := fmt.Sprintf("%s.lost-%s%s", path, now.UTC().Format("20060102T150405Z"), suffix)
		switch err := os.Rename(path+suffix, target); {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			return kept, fmt.Errorf("set aside: %w", err)
		default:
			kept = append(kept, target)
		}
	}
	return kept, nil
}
