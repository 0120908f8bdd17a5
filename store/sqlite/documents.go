package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

func (s *Store) SaveGrant(ctx context.Context, g *hearken.Grant) error {
	err := s.saveDocument(ctx, `INSERT INTO "grant" (document, id, created_at) VALUES (?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET document = excluded.document, created_at = excluded.created_at`,
		store.RoundGrant(g), g.ID, g.CreatedAt.UnixMicro())
	return store.Wrap(err, "save grant")
}

func (s *Store) Grants(ctx context.Context) ([]hearken.Grant, error) {
	found, err := documents[hearken.Grant](ctx, s, `SELECT document FROM "grant" ORDER BY created_at, id`)
	return found, store.Wrap(err, "list grants")
}

func (s *Store) SaveContact(ctx context.Context, c *hearken.Contact) error {
	err := s.saveDocument(ctx, `INSERT INTO contact (document, id) VALUES (?, ?)
		ON CONFLICT (id) DO UPDATE SET document = excluded.document`, c, c.ID)
	return store.Wrap(err, "save contact")
}

// DeleteContact implements [hearken.ActionStore]. It overwrites what it deletes
// and may return [hearken.Busy], as Delete does.
func (s *Store) DeleteContact(ctx context.Context, id string) error {
	err := s.erase(ctx, []string{"contact"}, func(tx *sql.Tx) error {
		n, err := affected(tx.ExecContext(ctx, `DELETE FROM contact WHERE id = ?`, id))
		if err == nil && n == 0 {
			err = store.NoContact(id)
		}
		return err
	})
	return store.Wrap(err, "delete contact")
}

func (s *Store) Contacts(ctx context.Context) ([]hearken.Contact, error) {
	found, err := documents[hearken.Contact](ctx, s, `SELECT document FROM contact`)
	store.SortContacts(found)
	return found, store.Wrap(err, "list contacts")
}

// saveDocument runs a query whose first argument is value as JSON.
func (s *Store) saveDocument(ctx context.Context, query string, value any, args ...any) error {
	document, err := json.Marshal(value)
	if err != nil {
		return err
	}
	_, err = s.exec(ctx, query, append([]any{string(document)}, args...)...)
	return err
}

// documents decodes the JSON that a query finds.
func documents[T any](ctx context.Context, s *Store, query string) ([]T, error) {
	var found []T
	err := s.eachRow(ctx, query, nil, func(rows *sql.Rows) (bool, error) {
		var document sql.RawBytes
		if err := rows.Scan(&document); err != nil {
			return false, err
		}
		var value T
		err := json.Unmarshal(document, &value)
		found = append(found, value)
		return true, err
	})
	return found, err
}
