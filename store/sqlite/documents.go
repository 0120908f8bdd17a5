package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

func (s *Store) SaveGrant(ctx context.Context, g *hearken.Grant) error {
	err := s.saveDocument(ctx, `INSERT INTO "grant" (document, id, created_at) VALUES (?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET document = excluded.document, created_at = excluded.created_at`,
		store.RoundGrantTimes(g), g.ID, g.CreatedAt.UnixMicro())
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

func (s *Store) SaveAlarm(ctx context.Context, a *hearken.Alarm) (bool, error) {
	if err := store.CheckActionID(a.Action); err != nil {
		return false, err
	}
	document, err := json.Marshal(store.RoundAlarmTimes(a))
	if err != nil {
		return false, fmt.Errorf("save alarm: %w", err)
	}
	var next *int64
	if !a.Next.IsZero() {
		next = toMicros(&a.Next)
	}
	saved, err := s.saveVersion(ctx, &a.Version,
		`INSERT INTO alarm (version, next_at, firing_at, document, action) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		`UPDATE alarm SET version = ?, next_at = ?, firing_at = ?, document = ? WHERE action = ? AND version = ?`,
		a.Version+1, next, toMicros(a.Firing), string(document), a.Action)
	return saved, store.Wrap(err, "save alarm")
}

// Alarms implements [hearken.ActionStore]. An alarm that is firing is sorted by
// that time. One without a time comes last.
func (s *Store) Alarms(ctx context.Context, before time.Time) ([]hearken.Alarm, error) {
	w := store.Where{}
	if !before.IsZero() {
		w.And(`(next_at < ? OR firing_at IS NOT NULL)`, ceilMicros(before))
	}
	var found []hearken.Alarm
	err := s.eachRow(ctx, `SELECT version, document FROM alarm`+w.String()+
		` ORDER BY coalesce(firing_at, next_at) NULLS LAST, action`, w.Args, func(rows *sql.Rows) (bool, error) {
		var version int
		var document sql.RawBytes
		if err := rows.Scan(&version, &document); err != nil {
			return false, err
		}
		var a hearken.Alarm
		err := json.Unmarshal(document, &a)
		a.Version = version
		found = append(found, a)
		return true, err
	})
	return found, store.Wrap(err, "list alarms")
}
