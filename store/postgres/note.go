package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hearken-dev/hearken"
)

// SaveNote implements [hearken.Store].
func (s *Store) SaveNote(ctx context.Context, n *hearken.Note) error {
	return s.write(ctx, func(tx pgx.Tx) error {
		session, err := sessionKey(ctx, tx, n.Session)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO hearken_note (session, text, saved_at, by) VALUES ($1, $2, $3, $4)
			ON CONFLICT (session) DO UPDATE SET text = excluded.text, saved_at = excluded.saved_at, by = excluded.by`,
			session, clean(n.Text), stored(n.SavedAt), clean(n.By))
		if err != nil {
			return fmt.Errorf("save note: %w", err)
		}
		return nil
	})
}

// Note implements [hearken.Store].
func (s *Store) Note(ctx context.Context, session string) (*hearken.Note, error) {
	key, err := sessionKey(ctx, s.pool, session)
	if err != nil {
		return nil, err
	}
	n := hearken.Note{Session: session}
	err = s.pool.QueryRow(ctx, `SELECT text, saved_at, by FROM hearken_note WHERE session = $1`, key).
		Scan(&n.Text, &n.SavedAt, &n.By)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, hearken.Errorf(hearken.NotFound, "The session %s has no note.", session)
	}
	if err != nil {
		return nil, fmt.Errorf("find note: %w", err)
	}
	n.SavedAt = n.SavedAt.UTC()
	return &n, nil
}

// SaveKey implements [hearken.Store].
func (s *Store) SaveKey(ctx context.Context, k *hearken.Key) error {
	toolsets, err := json.Marshal(k.Toolsets)
	if err != nil {
		return fmt.Errorf("save key: %w", err)
	}
	_, err = s.pool.Exec(ctx, `INSERT INTO hearken_key (id, name, hash, created_at, revoked_at, toolsets, approver)
		VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, hash = excluded.hash,
			created_at = excluded.created_at, revoked_at = excluded.revoked_at,
			toolsets = excluded.toolsets, approver = excluded.approver`,
		clean(k.ID), clean(k.Name), k.Hash, stored(k.CreatedAt), storedPtr(k.RevokedAt), string(toolsets), clean(k.Approver))
	if err != nil {
		return fmt.Errorf("save key: %w", err)
	}
	return nil
}

// Keys implements [hearken.Store].
func (s *Store) Keys(ctx context.Context) ([]hearken.Key, error) {
	rows, err := s.pool.Query(ctx, `SELECT id, name, hash, created_at, revoked_at, toolsets::text, approver
		FROM hearken_key ORDER BY created_at, id`)
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	keys, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (k hearken.Key, err error) {
		var toolsets string
		if err := row.Scan(&k.ID, &k.Name, &k.Hash, &k.CreatedAt, &k.RevokedAt, &toolsets, &k.Approver); err != nil {
			return k, err
		}
		k.CreatedAt, k.RevokedAt = k.CreatedAt.UTC(), utc(k.RevokedAt)
		return k, json.Unmarshal([]byte(toolsets), &k.Toolsets)
	})
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	return keys, nil
}
