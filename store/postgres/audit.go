package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

func (s *Store) SaveAuditHead(ctx context.Context, h *hearken.AuditHead) error {
	_, err := s.execDurably(ctx, `INSERT INTO hearken_audit_head (name, key, checkpoint, saved_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (name) DO UPDATE SET key = excluded.key, checkpoint = excluded.checkpoint, saved_at = excluded.saved_at`,
		validText(h.Name), validText(h.Key), validText(h.Checkpoint), store.RoundTime(h.SavedAt))
	return store.Wrap(err, "save audit head")
}

func (s *Store) AuditHeads(ctx context.Context) ([]hearken.AuditHead, error) {
	found, err := collect(ctx, s, func(row pgx.CollectableRow) (h hearken.AuditHead, err error) {
		err = row.Scan(&h.Name, &h.Key, &h.Checkpoint, &h.SavedAt)
		h.SavedAt = h.SavedAt.UTC()
		return h, err
	}, `SELECT name, key, checkpoint, saved_at FROM hearken_audit_head ORDER BY name COLLATE "C"`)
	return found, store.Wrap(err, "list audit heads")
}

// ReadAuditHeads reads what [Store.AuditHeads] lists and changes nothing in the
// database. A database whose version knew no heads has none.
func ReadAuditHeads(ctx context.Context, url string) ([]hearken.AuditHead, error) {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return nil, unusable(err)
	}
	defer pool.Close()
	var known bool
	if err := pool.QueryRow(ctx, `SELECT to_regclass('hearken_audit_head') IS NOT NULL`).Scan(&known); err != nil {
		return nil, unusable(err)
	}
	if !known {
		return nil, nil
	}
	return (&Store{pool: pool}).AuditHeads(ctx)
}
