package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

func (s *Store) SaveKey(ctx context.Context, k *hearken.Key) error {
	toolsets, err := json.Marshal(k.Toolsets)
	if err != nil {
		return fmt.Errorf("save key: %w", err)
	}
	_, err = s.exec(ctx, `INSERT INTO key (id, name, hash, created_at, revoked_at, toolsets, approver)
		VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, hash = excluded.hash,
			created_at = excluded.created_at, revoked_at = excluded.revoked_at,
			toolsets = excluded.toolsets, approver = excluded.approver`,
		k.ID, k.Name, k.Hash, k.CreatedAt.UnixMicro(), toMicros(k.RevokedAt), string(toolsets), k.Approver)
	return store.Wrap(err, "save key")
}

func (s *Store) Keys(ctx context.Context) ([]hearken.Key, error) {
	var keys []hearken.Key
	err := s.eachRow(ctx, `SELECT id, name, hash, created_at, revoked_at, toolsets, approver
		FROM key ORDER BY created_at, id`, nil, func(rows *sql.Rows) (bool, error) {
		var k hearken.Key
		var created int64
		var revoked *int64
		var toolsets []byte
		if err := rows.Scan(&k.ID, &k.Name, &k.Hash, &created, &revoked, &toolsets, &k.Approver); err != nil {
			return false, err
		}
		k.CreatedAt, k.RevokedAt = fromMicros(created), fromMicrosPtr(revoked)
		err := json.Unmarshal(toolsets, &k.Toolsets)
		keys = append(keys, k)
		return true, err
	})
	return keys, store.Wrap(err, "list keys")
}

func (s *Store) SaveOwner(ctx context.Context, o *hearken.StoreOwner) error {
	pin := append([]byte{}, o.PIN...) // nil would be NULL
	_, err := s.exec(ctx, `INSERT INTO owner (id, data_dir, pin, saved_at) VALUES (1, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET data_dir = excluded.data_dir, pin = excluded.pin, saved_at = excluded.saved_at`,
		o.DataDir, pin, o.SavedAt.UnixMicro())
	return store.Wrap(err, "save owner")
}

func (s *Store) Owner(ctx context.Context) (*hearken.StoreOwner, error) {
	var o hearken.StoreOwner
	var saved int64
	err := s.reads.QueryRowContext(ctx, `SELECT data_dir, pin, saved_at FROM owner`).Scan(&o.DataDir, &o.PIN, &saved)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, store.NoOwner()
	}
	o.SavedAt = fromMicros(saved)
	return &o, store.Wrap(err, "find owner")
}

func (s *Store) SaveExposure(ctx context.Context, principal string, at time.Time) error {
	_, err := s.exec(ctx, `INSERT INTO exposure (principal, at) VALUES (?, ?)
		ON CONFLICT (principal) DO UPDATE SET at = max(at, excluded.at)`, principal, at.UnixMicro())
	return store.Wrap(err, "save exposure")
}

func (s *Store) Exposures(ctx context.Context) (map[string]time.Time, error) {
	found := map[string]time.Time{}
	err := s.eachRow(ctx, `SELECT principal, at FROM exposure`, nil, func(rows *sql.Rows) (bool, error) {
		var principal string
		var at int64
		err := rows.Scan(&principal, &at)
		found[principal] = fromMicros(at)
		return true, err
	})
	return found, store.Wrap(err, "list exposures")
}
