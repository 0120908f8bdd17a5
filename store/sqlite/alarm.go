package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

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
	var next *int64
	if !a.Next.IsZero() {
		next = micros(&a.Next)
	}
	saved, err := s.exchange(ctx, a.Version,
		`INSERT INTO alarm (version, next_at, firing_at, document, action) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		`UPDATE alarm SET version = ?, next_at = ?, firing_at = ?, document = ? WHERE action = ? AND version = ?`,
		a.Version+1, next, micros(a.Firing), string(document), a.Action)
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
	query, args := `SELECT version, document FROM alarm`, []any(nil)
	if !before.IsZero() {
		query, args = query+` WHERE next_at < ? OR firing_at IS NOT NULL`, []any{ceil(before)}
	}
	query += ` ORDER BY coalesce(firing_at, next_at) NULLS LAST, action`
	var found []hearken.Alarm
	err := s.rows(ctx, query, args, func(rows *sql.Rows) (bool, error) {
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
	if err != nil {
		return nil, fmt.Errorf("list alarms: %w", err)
	}
	return found, nil
}

// SaveGrant implements [hearken.ActionStore].
func (s *Store) SaveGrant(ctx context.Context, g *hearken.Grant) error {
	kept := *g
	kept.CreatedAt, kept.ExpiresAt, kept.RevokedAt = stored(g.CreatedAt), stored(g.ExpiresAt), storedPtr(g.RevokedAt)
	err := s.put(ctx, `INSERT INTO "grant" (document, id, created_at) VALUES (?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET document = excluded.document, created_at = excluded.created_at`,
		&kept, g.ID, g.CreatedAt.UnixMicro())
	if err != nil {
		return fmt.Errorf("save grant: %w", err)
	}
	return nil
}

// Grants implements [hearken.ActionStore].
func (s *Store) Grants(ctx context.Context) ([]hearken.Grant, error) {
	found, err := documents[hearken.Grant](ctx, s, `SELECT document FROM "grant" ORDER BY created_at, id`)
	if err != nil {
		return nil, fmt.Errorf("list grants: %w", err)
	}
	return found, nil
}

// SaveContact implements [hearken.ActionStore].
func (s *Store) SaveContact(ctx context.Context, c *hearken.Contact) error {
	err := s.put(ctx, `INSERT INTO contact (document, id) VALUES (?, ?)
		ON CONFLICT (id) DO UPDATE SET document = excluded.document`, c, c.ID)
	if err != nil {
		return fmt.Errorf("save contact: %w", err)
	}
	return nil
}

// DeleteContact implements [hearken.ActionStore]. It leaves no byte, and may
// be [hearken.Busy], as Delete does.
func (s *Store) DeleteContact(ctx context.Context, id string) error {
	err := s.erase(ctx, []string{"contact"}, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `DELETE FROM contact WHERE id = ?`, id)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n > 0 {
			return err
		}
		return hearken.Errorf(hearken.NotFound, "There is no contact %s.", id).WithTry("list the contacts")
	})
	if err != nil {
		return fmt.Errorf("delete contact: %w", err)
	}
	return nil
}

// Contacts implements [hearken.ActionStore]. Capital letters do not matter to
// the order, which SQLite knows for English ones only.
func (s *Store) Contacts(ctx context.Context) ([]hearken.Contact, error) {
	found, err := documents[hearken.Contact](ctx, s, `SELECT document FROM contact`)
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
	return s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, query, append([]any{string(document)}, args...)...)
		return err
	})
}

// documents reads the values that a query finds.
func documents[T any](ctx context.Context, s *Store, query string) ([]T, error) {
	var found []T
	err := s.rows(ctx, query, nil, func(rows *sql.Rows) (bool, error) {
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
