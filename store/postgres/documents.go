package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

func (s *Store) SaveGrant(ctx context.Context, g *hearken.Grant) error {
	rounded := store.RoundGrantTimes(g)
	_, err := s.execDurably(ctx, `INSERT INTO hearken_grant (document, id, created_at) VALUES ($1, $2, $3)
		ON CONFLICT (id) DO UPDATE SET document = excluded.document, created_at = excluded.created_at`,
		jsonValue{rounded}, validText(g.ID), rounded.CreatedAt)
	return store.Wrap(err, "save grant")
}

func (s *Store) Grants(ctx context.Context) ([]hearken.Grant, error) {
	found, err := collect(ctx, s, pgx.RowTo[hearken.Grant], `SELECT document FROM hearken_grant ORDER BY created_at, id`)
	return found, store.Wrap(err, "list grants")
}

func (s *Store) SaveContact(ctx context.Context, c *hearken.Contact) error {
	_, err := s.execDurably(ctx, `INSERT INTO hearken_contact (document, id) VALUES ($1, $2)
		ON CONFLICT (id) DO UPDATE SET document = excluded.document`, jsonValue{c}, validText(c.ID))
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

func (s *Store) SaveAlarm(ctx context.Context, a *hearken.Alarm) (bool, error) {
	if err := store.CheckActionID(a.Action); err != nil {
		return false, err
	}
	rounded := store.RoundAlarmTimes(a)
	var next *time.Time
	if !a.Next.IsZero() {
		next = &rounded.Next
	}
	saved, err := s.saveVersion(ctx, &a.Version,
		`INSERT INTO hearken_alarm (version, next_at, firing_at, document, action)
		VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
		`UPDATE hearken_alarm SET version = $1, next_at = $2, firing_at = $3, document = $4 WHERE action = $5 AND version = $6`,
		a.Version+1, next, rounded.Firing, jsonValue{rounded}, a.Action)
	return saved, store.Wrap(err, "save alarm")
}

// Alarms implements [hearken.ActionStore]. An alarm that is firing is sorted by
// that time. One without a time comes last.
func (s *Store) Alarms(ctx context.Context, before time.Time) ([]hearken.Alarm, error) {
	w := store.Where{}
	if !before.IsZero() {
		w.And(`(next_at < ? OR firing_at IS NOT NULL)`, store.CeilTime(before))
	}
	found, err := collect(ctx, s, func(row pgx.CollectableRow) (a hearken.Alarm, err error) {
		err = row.Scan(&a, &a.Version) // in this order: the document resets the version
		return a, err
	}, `SELECT document, version FROM hearken_alarm`+numbered(w)+
		` ORDER BY coalesce(firing_at, next_at) NULLS LAST, action`, w.Args...)
	return found, store.Wrap(err, "list alarms")
}
