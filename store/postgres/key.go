package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

func (s *Store) SaveKey(ctx context.Context, k *hearken.Key) error {
	_, err := s.pool.Exec(ctx, `INSERT INTO hearken_key (id, name, hash, created_at, revoked_at, toolsets, approver)
		VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, hash = excluded.hash,
			created_at = excluded.created_at, revoked_at = excluded.revoked_at,
			toolsets = excluded.toolsets, approver = excluded.approver`,
		validText(k.ID), validText(k.Name), k.Hash, store.RoundTime(k.CreatedAt), store.RoundTimePtr(k.RevokedAt), jsonValue{k.Toolsets}, validText(k.Approver))
	return store.Wrap(err, "save key")
}

func (s *Store) Keys(ctx context.Context) ([]hearken.Key, error) {
	keys, err := collect(ctx, s, func(row pgx.CollectableRow) (k hearken.Key, err error) {
		err = row.Scan(&k.ID, &k.Name, &k.Hash, &k.CreatedAt, &k.RevokedAt, &k.Toolsets, &k.Approver)
		k.CreatedAt, k.RevokedAt = k.CreatedAt.UTC(), utc(k.RevokedAt)
		return k, err
	}, `SELECT id, name, hash, created_at, revoked_at, toolsets, approver FROM hearken_key ORDER BY created_at, id`)
	return keys, store.Wrap(err, "list keys")
}

func (s *Store) SaveOwner(ctx context.Context, o *hearken.StoreOwner) error {
	pin := append([]byte{}, o.PIN...) // nil would be NULL
	_, err := s.execDurably(ctx, `INSERT INTO hearken_owner (id, data_dir, pin, saved_at) VALUES (1, $1, $2, $3)
		ON CONFLICT (id) DO UPDATE SET data_dir = excluded.data_dir, pin = excluded.pin, saved_at = excluded.saved_at`,
		validText(o.DataDir), pin, store.RoundTime(o.SavedAt))
	return store.Wrap(err, "save owner")
}

func (s *Store) Owner(ctx context.Context) (*hearken.StoreOwner, error) {
	var o hearken.StoreOwner
	err := s.pool.QueryRow(ctx, `SELECT data_dir, pin, saved_at FROM hearken_owner`).Scan(&o.DataDir, &o.PIN, &o.SavedAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, store.NoOwner()
	}
	o.SavedAt = o.SavedAt.UTC()
	return &o, store.Wrap(err, "find owner")
}

func (s *Store) SaveExposure(ctx context.Context, principal string, at time.Time) error {
	_, err := s.execDurably(ctx, `INSERT INTO hearken_exposure (principal, at) VALUES ($1, $2)
		ON CONFLICT (principal) DO UPDATE SET at = greatest(hearken_exposure.at, excluded.at)`,
		validText(principal), store.RoundTime(at))
	return store.Wrap(err, "save exposure")
}

func (s *Store) Exposures(ctx context.Context) (map[string]time.Time, error) {
	type exposure struct {
		principal string
		at        time.Time
	}
	rows, err := collect(ctx, s, func(row pgx.CollectableRow) (e exposure, err error) {
		err = row.Scan(&e.principal, &e.at)
		return e, err
	}, `SELECT principal, at FROM hearken_exposure`)
	found := map[string]time.Time{}
	for _, e := range rows {
		found[e.principal] = e.at.UTC()
	}
	return found, store.Wrap(err, "list exposures")
}
