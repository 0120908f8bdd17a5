package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hearken-dev/hearken"
)

// SaveKey implements [hearken.Store].
func (s *Store) SaveKey(ctx context.Context, k *hearken.Key) error {
	toolsets, err := json.Marshal(k.Toolsets)
	if err != nil {
		return fmt.Errorf("save key: %w", err)
	}
	err = s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO key (id, name, hash, created_at, revoked_at, toolsets, approver)
			VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET name = excluded.name, hash = excluded.hash,
				created_at = excluded.created_at, revoked_at = excluded.revoked_at,
				toolsets = excluded.toolsets, approver = excluded.approver`,
			k.ID, k.Name, k.Hash, k.CreatedAt.UnixMicro(), micros(k.RevokedAt), string(toolsets), k.Approver)
		return err
	})
	if err != nil {
		return fmt.Errorf("save key: %w", err)
	}
	return nil
}

// Keys implements [hearken.Store].
func (s *Store) Keys(ctx context.Context) ([]hearken.Key, error) {
	rows, err := s.reads.QueryContext(ctx, `SELECT id, name, hash, created_at, revoked_at, toolsets, approver
		FROM key ORDER BY created_at, id`)
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	defer rows.Close()
	var keys []hearken.Key
	for rows.Next() {
		var k hearken.Key
		var created int64
		var revoked *int64
		var toolsets []byte
		if err := rows.Scan(&k.ID, &k.Name, &k.Hash, &created, &revoked, &toolsets, &k.Approver); err != nil {
			return nil, fmt.Errorf("list keys: %w", err)
		}
		k.CreatedAt = time.UnixMicro(created).UTC()
		if revoked != nil {
			t := time.UnixMicro(*revoked).UTC()
			k.RevokedAt = &t
		}
		if err := json.Unmarshal(toolsets, &k.Toolsets); err != nil {
			return nil, fmt.Errorf("list keys: %w", err)
		}
		keys = append(keys, k)
	}
	return keys, rows.Err()
}
