package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/files"
)

// statePruned is the state of a record that documents a removal.
const statePruned = "pruned"

// Prune removes the files of all months before the month of a time and returns
// their names. The current month always stays. First a record documents the
// removal and names the last removed record. The audit stays verifiable: the
// checkpoint at the end of a month holds what the tree needs of it.
func (l *Log) Prune(ctx context.Context, before time.Time) ([]string, error) {
	names, err := months(l.cfg.Dir)
	if err != nil {
		return nil, unavailable(err)
	}
	if n := len(names); n > 0 {
		names = names[:n-1]
	}
	limit := monthName(before)
	names = slices.DeleteFunc(names, func(name string) bool { return name >= limit })
	if len(names) == 0 {
		return nil, nil
	}
	last := names[len(names)-1]
	through, err := l.lastRecordOf(last)
	if err != nil {
		return nil, unavailable(err)
	}
	r := hearken.AuditRecord{Type: hearken.AuditHub, State: statePruned, Target: last}
	d := detail{Note: fmt.Sprintf("The records up to %d, in %s and before, were removed.", through, last), Through: through}
	if err := l.append(ctx, r, d); err != nil {
		return nil, err
	}
	if _, err := l.Checkpoint(ctx); err != nil {
		return nil, err
	}
	for i, name := range names {
		if err := os.Remove(filepath.Join(l.cfg.Dir, name)); err != nil {
			return names[:i], unavailable(err)
		}
	}
	return names, unavailable(files.SyncDir(l.cfg.Dir))
}

// lastRecordOf returns the number of a month's last record, according to the
// checkpoint that ends the month.
func (l *Log) lastRecordOf(name string) (int64, error) {
	key, err := note.NewVerifier(l.keys.verifier)
	if err != nil {
		return 0, err
	}
	points, err := readCheckpoints(filepath.Join(l.cfg.Dir, checkpointsFile), checkpointsFile, key, true)
	if err != nil {
		return 0, err
	}
	info, err := os.Stat(filepath.Join(l.cfg.Dir, name))
	if err != nil {
		return 0, err
	}
	for _, c := range points {
		if c.file == name && c.end == info.Size() {
			return c.n, nil
		}
	}
	return 0, errors.New("no checkpoint ends " + name)
}
