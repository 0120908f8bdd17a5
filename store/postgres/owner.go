package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hearken-dev/hearken"
)

// SaveOwner implements [hearken.Store].
func (s *Store) SaveOwner(ctx context.Context, o *hearken.StoreOwner) error {
	pin := append([]byte{}, o.PIN...) // nil would be NULL
	_, err := s.durably(ctx, `INSERT INTO hearken_owner (id, data_dir, pin, saved_at) VALUES (1, $1, $2, $3)
		ON CONFLICT (id) DO UPDATE SET data_dir = excluded.data_dir, pin = excluded.pin, saved_at = excluded.saved_at`,
		clean(o.DataDir), pin, stored(o.SavedAt))
	if err != nil {
		return fmt.Errorf("save owner: %w", err)
	}
	return nil
}

// Owner implements [hearken.Store].
func (s *Store) Owner(ctx context.Context) (*hearken.StoreOwner, error) {
	var o hearken.StoreOwner
	err := s.pool.QueryRow(ctx, `SELECT data_dir, pin, saved_at FROM hearken_owner`).Scan(&o.DataDir, &o.PIN, &o.SavedAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, hearken.Errorf(hearken.NotFound, "The store has no owner.")
	}
	if err != nil {
		return nil, fmt.Errorf("find owner: %w", err)
	}
	o.SavedAt = o.SavedAt.UTC()
	return &o, nil
}
