package postgres

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

// SaveGrant implements [hearken.ActionStore].
func (s *Store) SaveGrant(ctx context.Context, g *hearken.Grant) error {
	rounded := store.RoundGrant(g)
	err := s.saveDocument(ctx, `INSERT INTO hearken_grant (document, id, created_at) VALUES ($1, $2, $3)
		ON CONFLICT (id) DO UPDATE SET document = excluded.document, created_at = excluded.created_at`,
		rounded, validText(g.ID), rounded.CreatedAt)
	if err != nil {
		return fmt.Errorf("save grant: %w", err)
	}
	return nil
}

// Grants implements [hearken.ActionStore].
func (s *Store) Grants(ctx context.Context) ([]hearken.Grant, error) {
	found, err := documents[hearken.Grant](ctx, s, `SELECT document::text FROM hearken_grant ORDER BY created_at, id`)
	if err != nil {
		return nil, fmt.Errorf("list grants: %w", err)
	}
	return found, nil
}

// SaveContact implements [hearken.ActionStore].
func (s *Store) SaveContact(ctx context.Context, c *hearken.Contact) error {
	err := s.saveDocument(ctx, `INSERT INTO hearken_contact (document, id) VALUES ($1, $2)
		ON CONFLICT (id) DO UPDATE SET document = excluded.document`, c, validText(c.ID))
	if err != nil {
		return fmt.Errorf("save contact: %w", err)
	}
	return nil
}

// DeleteContact implements [hearken.ActionStore].
func (s *Store) DeleteContact(ctx context.Context, id string) error {
	n, err := s.durably(ctx, `DELETE FROM hearken_contact WHERE id = $1`, validText(id))
	if err != nil {
		return fmt.Errorf("delete contact: %w", err)
	}
	if n == 0 {
		return store.NoContact(id)
	}
	return nil
}

// Contacts implements [hearken.ActionStore].
func (s *Store) Contacts(ctx context.Context) ([]hearken.Contact, error) {
	found, err := documents[hearken.Contact](ctx, s, `SELECT document::text FROM hearken_contact`)
	if err != nil {
		return nil, fmt.Errorf("list contacts: %w", err)
	}
	store.SortContacts(found)
	return found, nil
}

// saveDocument runs a query whose first argument is value as JSON.
func (s *Store) saveDocument(ctx context.Context, query string, value any, args ...any) error {
	document, err := json.Marshal(value)
	if err != nil {
		return err
	}
	_, err = s.durably(ctx, query, append([]any{string(document)}, args...)...)
	return err
}

// documents decodes the JSON that a query finds.
func documents[T any](ctx context.Context, s *Store, query string) ([]T, error) {
	rows, err := s.pool.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (value T, err error) {
		var document string
		if err := row.Scan(&document); err != nil {
			return value, err
		}
		return value, json.Unmarshal([]byte(document), &value)
	})
}
