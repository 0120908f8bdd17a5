package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

func (s *Store) SaveAuditHead(ctx context.Context, h *hearken.AuditHead) error {
	_, err := s.exec(ctx, `INSERT INTO audit_head (name, key, checkpoint, saved_at) VALUES (?, ?, ?, ?)
		ON CONFLICT (name) DO UPDATE SET key = excluded.key, checkpoint = excluded.checkpoint, saved_at = excluded.saved_at`,
		h.Name, h.Key, h.Checkpoint, h.SavedAt.UnixMicro())
	return store.Wrap(err, "save audit head")
}

func (s *Store) AuditHeads(ctx context.Context) ([]hearken.AuditHead, error) {
	var found []hearken.AuditHead
	err := s.eachRow(ctx, `SELECT name, key, checkpoint, saved_at FROM audit_head ORDER BY name`, nil, func(rows *sql.Rows) (bool, error) {
		var h hearken.AuditHead
		var saved int64
		err := rows.Scan(&h.Name, &h.Key, &h.Checkpoint, &saved)
		h.SavedAt = fromMicros(saved)
		found = append(found, h)
		return true, err
	})
	return found, store.Wrap(err, "list audit heads")
}

// ReadAuditHeads reads what [Store.AuditHeads] lists from a database that this
// process does not have open, and changes nothing in it. A database that does
// not exist, or whose version knew no heads, has none.
func ReadAuditHeads(ctx context.Context, path string) ([]hearken.AuditHead, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	uri, err := fileURI(path)
	if err != nil {
		return nil, unusable(path, err)
	}
	s := &Store{path: path}
	if s.reads, err = sql.Open("sqlite", uri+readOptions); err != nil {
		return nil, unusable(path, err)
	}
	defer func() { _ = s.reads.Close() }() // nothing was written
	var known bool
	err = s.reads.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'audit_head')`).Scan(&known)
	if err != nil {
		return nil, unusable(path, err)
	}
	if !known {
		return nil, nil
	}
	return s.AuditHeads(ctx)
}
