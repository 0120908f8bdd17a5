package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hearken-dev/hearken"
)

// SaveAlarm implements [hearken.ActionStore].
func (s *Store) SaveAlarm(ctx context.Context, a *hearken.Alarm) (bool, error) {
	if !hearken.ValidActionID(a.Action) {
		return false, noID(a.Action)
	}
	kept := *a
	kept.Next, kept.Firing, kept.Fired = stored(a.Next), storedPtr(a.Firing), storedPtr(a.Fired)
	document, err := json.Marshal(&kept)
	if err != nil {
		return false, fmt.Errorf("save alarm: %w", err)
	}
	var next *time.Time
	if !a.Next.IsZero() {
		next = &kept.Next
	}
	saved, err := s.exchange(ctx, a.Version,
		`INSERT INTO hearken_alarm (version, next_at, firing_at, document, action)
		VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
		`UPDATE hearken_alarm SET version = $1, next_at = $2, firing_at = $3, document = $4 WHERE action = $5 AND version = $6`,
		a.Version+1, next, kept.Firing, string(document), a.Action)
	if err != nil {
		return false, fmt.Errorf("save alarm: %w", err)
	}
	if saved {
		a.Version++
	}
	return saved, nil
}

// Alarms implements [hearken.ActionStore]. An alarm that is being told of has
// its place at that time; one that has no time any more comes last.
func (s *Store) Alarms(ctx context.Context, before time.Time) ([]hearken.Alarm, error) {
	w := where{}
	if !before.IsZero() {
		w.and(`(next_at < %s OR firing_at IS NOT NULL)`, ceil(before))
	}
	rows, err := s.pool.Query(ctx, `SELECT version, document::text FROM hearken_alarm`+w.String()+
		` ORDER BY coalesce(firing_at, next_at) NULLS LAST, action`, w.args...)
	if err != nil {
		return nil, fmt.Errorf("list alarms: %w", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (a hearken.Alarm, err error) {
		var version int
		var document string
		if err := row.Scan(&version, &document); err != nil {
			return a, err
		}
		err = json.Unmarshal([]byte(document), &a)
		a.Version = version
		return a, err
	})
	if err != nil {
		return nil, fmt.Errorf("list alarms: %w", err)
	}
	return found, nil
}

// SaveGrant implements [hearken.ActionStore].
func (s *Store) SaveGrant(ctx context.Context, g *hearken.Grant) error {
	kept := *g
	kept.CreatedAt, kept.ExpiresAt, kept.RevokedAt = stored(g.CreatedAt), stored(g.ExpiresAt), storedPtr(g.RevokedAt)
	err := s.put(ctx, `INSERT INTO hearken_grant (document, id, created_at) VALUES ($1, $2, $3)
		ON CONFLICT (id) DO UPDATE SET document = excluded.document, created_at = excluded.created_at`,
		&kept, clean(g.ID), kept.CreatedAt)
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
	err := s.put(ctx, `INSERT INTO hearken_contact (document, id) VALUES ($1, $2)
		ON CONFLICT (id) DO UPDATE SET document = excluded.document`, c, clean(c.ID))
	if err != nil {
		return fmt.Errorf("save contact: %w", err)
	}
	return nil
}

// DeleteContact implements [hearken.ActionStore].
func (s *Store) DeleteContact(ctx context.Context, id string) error {
	n, err := s.durably(ctx, `DELETE FROM hearken_contact WHERE id = $1`, clean(id))
	if err != nil {
		return fmt.Errorf("delete contact: %w", err)
	}
	if n == 0 {
		return hearken.Errorf(hearken.NotFound, "There is no contact %s.", id).WithTry("list the contacts")
	}
	return nil
}

// Contacts implements [hearken.ActionStore]. Capital letters do not matter to
// the order, whatever the order of the database is.
func (s *Store) Contacts(ctx context.Context) ([]hearken.Contact, error) {
	found, err := documents[hearken.Contact](ctx, s, `SELECT document::text FROM hearken_contact`)
	if err != nil {
		return nil, fmt.Errorf("list contacts: %w", err)
	}
	slices.SortFunc(found, func(a, b hearken.Contact) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)),
			strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	return found, nil
}

// put writes a value as the document that is the first argument of the query.
func (s *Store) put(ctx context.Context, query string, value any, args ...any) error {
	document, err := json.Marshal(value)
	if err != nil {
		return err
	}
	_, err = s.durably(ctx, query, append([]any{string(document)}, args...)...)
	return err
}

// documents reads the values that a query finds.
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
