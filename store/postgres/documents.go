package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

func (s *Store) SaveGrant(ctx context.Context, g *hearken.Grant) error {
	rounded := store.RoundGrant(g)
	_, err := s.execDurably(ctx, `INSERT INTO hearken_grant (document, id, created_at) VALUES ($1, $2, $3)
		ON CONFLICT (id) DO UPDATE SET document = excluded.document, created_at = excluded.created_at`,
		rounded, validText(g.ID), rounded.CreatedAt)
	return store.Wrap(err, "save grant")
}

func (s *Store) Grants(ctx context.Context) ([]hearken.Grant, error) {
	found, err := collect(ctx, s, pgx.RowTo[hearken.Grant], `SELECT document FROM hearken_grant ORDER BY created_at, id`)
	return found, store.Wrap(err, "list grants")
}

func (s *Store) SaveContact(ctx context.Context, c *hearken.Contact) error {
	_, err := s.execDurably(ctx, `INSERT INTO hearken_contact (document, id) VALUES ($1, $2)
		ON CONFLICT (id) DO UPDATE SET document = excluded.document`, c, validText(c.ID))
	return store.Wrap(err, "save contact")
}

func (s *Store) DeleteContact(ctx context.Context, id string) error {
	n, err := s.execDurably(ctx, `DELETE FROM hearken_contact WHERE id = $1`, validText(id))
	if n == 0 && err == nil {
		return store.NoContact(id)
	}
	return store.Wrap(err, "delete contact")
}

func (s *Store) Contacts(ctx context.Context) ([]hearken.Contact, error) {
	found, err := collect(ctx, s, pgx.RowTo[hearken.Contact], `SELECT document FROM hearken_contact`)
	store.SortContacts(found)
	return found, store.Wrap(err, "list contacts")
}
