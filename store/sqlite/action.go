package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
)

// SaveAction implements [hearken.ActionStore].
func (s *Store) SaveAction(ctx context.Context, a *hearken.Action) (bool, error) {
	if !hearken.ValidActionID(a.ID) {
		return false, noID(a.ID)
	}
	document, err := json.Marshal(keptAction(a))
	if err != nil {
		return false, fmt.Errorf("save action: %w", err)
	}
	grant := ""
	if a.Decision != nil {
		grant = a.Decision.Grant
	}
	saved, err := s.exchange(ctx, a.Version,
		`INSERT INTO action (version, tool, principal, state, target, same, grant_id, created_at, ended_at, document, id)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		`UPDATE action SET version = ?, tool = ?, principal = ?, state = ?, target = ?, same = ?, grant_id = ?,
			created_at = ?, ended_at = ?, document = ? WHERE id = ? AND version = ?`,
		a.Version+1, a.Tool, a.Principal, a.State, a.Target, a.IdempotencyKey, grant,
		a.CreatedAt.UnixMicro(), micros(a.OverAt()), string(document), a.ID)
	if err != nil {
		return false, fmt.Errorf("save action: %w", err)
	}
	if saved {
		a.Version++
	}
	return saved, nil
}

// exchange puts in a row that must not be there yet, or changes one that must
// have the version, which is the last argument of the change. It reports
// whether that was so.
func (s *Store) exchange(ctx context.Context, version int, insert, update string, args ...any) (saved bool, err error) {
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
		return nil, hearken.Errorf(hearken.NotFound, "There is no action %s.", id).WithTry("list the actions")
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
		where = append(where, `grant_id <> ''`) // for the index, which is of these
	}
	if f.PendingAudit {
		where = append(where, `document ->> 'owed' <> ''`)
	}
	if !f.Since.IsZero() {
		where, args = append(where, `created_at >= ?`), append(args, ceil(f.Since))
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

// forgettable are the actions that are over since a time and have no alarm
// that is still to come.
const forgettable = `ended_at < ? AND state NOT IN (?, ?, ?) AND NOT EXISTS (SELECT 1 FROM alarm
	WHERE alarm.action = action.id AND (next_at IS NOT NULL OR firing_at IS NOT NULL))`

// ForgetActions implements [hearken.ActionStore]. It may be [hearken.Busy] as
// Delete is; the actions are gone all the same.
func (s *Store) ForgetActions(ctx context.Context, before time.Time) (int, error) {
	args := []any{ceil(before), hearken.ActionPending, hearken.ActionApproved, hearken.ActionExecuting}
	var work bool // to do, or left to do by an earlier call
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

// keptAction is an action with its own times as all stores keep them. Those
// of its arguments stay as they are, to the last digit: they were approved.
func keptAction(a *hearken.Action) *hearken.Action {
	c := *a
	c.CreatedAt, c.ExpiresAt = stored(a.CreatedAt), stored(a.ExpiresAt)
	c.RunAt, c.EndedAt = storedPtr(a.RunAt), storedPtr(a.EndedAt)
	if a.Decision != nil {
		d := *a.Decision
		d.At = stored(d.At)
		c.Decision = &d
	}
	return &c
}

// stored is a time as all stores keep it.
func stored(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

func storedPtr(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := stored(*t)
	return &u
}

func noID(id string) error {
	return hearken.Errorf(hearken.Invalid, "%q is not the id of an action.", id)
}
