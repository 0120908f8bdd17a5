package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

// SaveAction implements [hearken.ActionStore].
func (s *Store) SaveAction(ctx context.Context, a *hearken.Action) (bool, error) {
	if err := store.CheckActionID(a.ID); err != nil {
		return false, err
	}
	document, err := json.Marshal(store.RoundAction(a))
	if err != nil {
		return false, fmt.Errorf("save action: %w", err)
	}
	grant := ""
	if a.Decision != nil {
		grant = a.Decision.Grant
	}
	saved, err := s.saveVersion(ctx, a.Version,
		`INSERT INTO action (version, tool, principal, state, target, same, grant_id, created_at, ended_at, document, id)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		`UPDATE action SET version = ?, tool = ?, principal = ?, state = ?, target = ?, same = ?, grant_id = ?,
			created_at = ?, ended_at = ?, document = ? WHERE id = ? AND version = ?`,
		a.Version+1, a.Tool, a.Principal, a.State, a.Target, a.IdempotencyKey, grant,
		a.CreatedAt.UnixMicro(), toMicros(a.OverAt()), string(document), a.ID)
	if err != nil {
		return false, fmt.Errorf("save action: %w", err)
	}
	if saved {
		a.Version++
	}
	return saved, nil
}

// saveVersion inserts a row if version is 0, and otherwise updates the row that
// has this version, which it appends to the arguments. It reports whether it
// changed a row: if not, another writer was first.
func (s *Store) saveVersion(ctx context.Context, version int, insert, update string, args ...any) (saved bool, err error) {
	query := insert
	if version != 0 {
		query, args = update, append(args, version)
	}
	err = s.write(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, query, args...)
		if err != nil {
			return err
		}
		n, err := done.RowsAffected()
		saved = n == 1
		return err
	})
	return saved && err == nil, err
}

// Action implements [hearken.ActionStore].
func (s *Store) Action(ctx context.Context, id string) (*hearken.Action, error) {
	found, err := s.actions(ctx, ` WHERE id = ?`, id)
	if err != nil {
		return nil, fmt.Errorf("find action: %w", err)
	}
	if len(found) == 0 {
		return nil, store.NoAction(id)
	}
	return &found[0], nil
}

// Actions implements [hearken.ActionStore].
func (s *Store) Actions(ctx context.Context, f hearken.ActionFilter) ([]hearken.Action, error) {
	var where []string
	var args []any
	if len(f.States) > 0 {
		where = append(where, `state IN (?`+strings.Repeat(`, ?`, len(f.States)-1)+`)`)
		for _, state := range f.States {
			args = append(args, state)
		}
	}
	for _, equal := range []struct{ column, value string }{
		{`principal`, f.Principal}, {`tool`, f.Tool}, {`target`, f.Target}, {`same`, f.IdempotencyKey}, {`grant_id`, f.Grant},
	} {
		if equal.value != "" {
			where, args = append(where, equal.column+` = ?`), append(args, equal.value)
		}
	}
	if f.Grant != "" {
		where = append(where, `grant_id <> ''`) // as the index needs it
	}
	if f.PendingAudit {
		where = append(where, `document ->> 'owed' <> ''`)
	}
	if !f.Since.IsZero() {
		where, args = append(where, `created_at >= ?`), append(args, ceilMicros(f.Since))
	}
	query := ` ORDER BY created_at DESC, id DESC LIMIT ?`
	if len(where) > 0 {
		query = ` WHERE ` + strings.Join(where, ` AND `) + query
	}
	if f.Limit <= 0 {
		f.Limit = -1
	}
	found, err := s.actions(ctx, query, append(args, f.Limit)...)
	if err != nil {
		return nil, fmt.Errorf("list actions: %w", err)
	}
	return found, nil
}

func (s *Store) actions(ctx context.Context, query string, args ...any) ([]hearken.Action, error) {
	var found []hearken.Action
	err := s.rows(ctx, `SELECT version, same, document FROM action`+query, args, func(rows *sql.Rows) (bool, error) {
		var version int
		var same string
		var document sql.RawBytes
		if err := rows.Scan(&version, &same, &document); err != nil {
			return false, err
		}
		var a hearken.Action
		err := json.Unmarshal(document, &a)
		a.Version, a.IdempotencyKey = version, same
		found = append(found, a)
		return true, err
	})
	return found, err
}

// forgettable selects the actions that were over before a time and have no
// alarm to come.
const forgettable = `ended_at < ? AND state NOT IN (?, ?, ?) AND NOT EXISTS (SELECT 1 FROM alarm
	WHERE alarm.action = action.id AND (next_at IS NOT NULL OR firing_at IS NOT NULL))`

// ForgetActions implements [hearken.ActionStore]. It may return [hearken.Busy],
// as Delete does; the actions are deleted even then.
func (s *Store) ForgetActions(ctx context.Context, before time.Time) (int, error) {
	args := []any{ceilMicros(before), hearken.ActionPending, hearken.ActionApproved, hearken.ActionExecuting}
	var work bool // also what an earlier call left to do
	err := s.reads.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM action WHERE `+forgettable+`)
		OR EXISTS (SELECT 1 FROM unscrubbed)`, args...).Scan(&work)
	if err != nil {
		return 0, fmt.Errorf("forget actions: %w", err)
	}
	if !work {
		return 0, nil
	}
	var n int64
	err = s.erase(ctx, []string{"action", "alarm"}, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM alarm WHERE action IN (SELECT id FROM action WHERE `+forgettable+`)`, args...)
		if err != nil {
			return err
		}
		done, err := tx.ExecContext(ctx, `DELETE FROM action WHERE `+forgettable, args...)
		if err != nil {
			return err
		}
		n, err = done.RowsAffected()
		return err
	})
	if err != nil && hearken.CodeOf(err) != hearken.Busy {
		return 0, fmt.Errorf("forget actions: %w", err)
	}
	return int(n), err
}
