package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/hearken-dev/hearken"
)

// SaveOwner implements [hearken.Store].
func (s *Store) SaveOwner(ctx context.Context, o *hearken.StoreOwner) error {
	pin := append([]byte{}, o.PIN...) // nil would be NULL
	err := s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO owner (id, data_dir, pin, saved_at) VALUES (1, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET data_dir = excluded.data_dir, pin = excluded.pin, saved_at = excluded.saved_at`,
			o.DataDir, pin, o.SavedAt.UnixMicro())
		return err
	})
	if err != nil {
		return fmt.Errorf("save owner: %w", err)
	}
	return nil
}

// Owner implements [hearken.Store].
func (s *Store) Owner(ctx context.Context) (*hearken.StoreOwner, error) {
	var o hearken.StoreOwner
	var saved int64
	err := s.reads.QueryRowContext(ctx, `SELECT data_dir, pin, saved_at FROM owner`).Scan(&o.DataDir, &o.PIN, &saved)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, hearken.Errorf(hearken.NotFound, "The store has no owner.")
	case err != nil:
		return nil, fmt.Errorf("find owner: %w", err)
	}
	o.SavedAt = time.UnixMicro(saved).UTC()
	return &o, nil
}
