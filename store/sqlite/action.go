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

func (s *Store) SaveAction(ctx context.Context, a *hearken.Action) (bool, error) {
	if err := store.CheckActionID(a.ID); err != nil {
		return false, err
	}
	document, err := json.Marshal(store.RoundActionTimes(a))
	if err != nil {
		return false, fmt.Errorf("save action: %w", err)
	}
	grant := ""
	if a.Decision != nil {
		grant = a.Decision.Grant
	}
	saved, err := s.saveVersion(ctx, &a.Version,
		`INSERT INTO action (version, tool, principal, state, target, same, grant_id, created_at, ended_at, document, id)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		`UPDATE action SET version = ?, tool = ?, principal = ?, state = ?, target = ?, same = ?, grant_id = ?,
			created_at = ?, ended_at = ?, document = ? WHERE id = ? AND version = ?`,
		a.Version+1, a.Tool, a.Principal, a.State, a.Target, a.IdempotencyKey, grant,
		a.CreatedAt.UnixMicro(), toMicros(a.OverAt()), string(document), a.ID)
	return saved, store.Wrap(err, "save action")
}

// saveVersion inserts a row if version is 0, and otherwise updates the row that
// has this version, which it appends to the arguments. If it changed a row, it
// increments version and returns true; if not, another writer was first.
func (s *Store) saveVersion(ctx context.Context, version *int, insert, update string, args ...any) (bool, error) {
	query := insert
	if *version != 0 {
		query, args = update, append(args, *version)
	}
	n, err := s.exec(ctx, query, args...)
	if err != nil || n == 0 {
		return false, err
	}
	*version++
	return true, nil
}

func (s *Store) Action(ctx context.Context, id string) (*hearken.Action, error) {
	found, err := s.actions(ctx, ` WHERE id = ?`, id)
	return store.One(found, store.Wrap(err, "find action"), store.NoAction(id))
}

func (s *Store) Actions(ctx context.Context, f hearken.ActionFilter) ([]hearken.Action, error) {
	w := store.Where{}
	if len(f.States) > 0 {
		var states []any
		for _, state := range f.States {
			states = append(states, state)
		}
		w.And(`state IN (?`+strings.Repeat(`, ?`, len(states)-1)+`)`, states...)
	}
	for _, equal := range []struct{ condition, value string }{
		{`principal = ?`, f.Principal}, {`tool = ?`, f.Tool}, {`target = ?`, f.Target}, {`same = ?`, f.IdempotencyKey},
		{`grant_id <> '' AND grant_id = ?`, f.Grant}, // as the index needs it
	} {
		if equal.value != "" {
			w.And(equal.condition, equal.value)
		}
	}
	if f.PendingAudit {
		w.And(`document ->> 'owed' <> ''`)
	}
	if !f.Since.IsZero() {
		w.And(`created_at >= ?`, ceilMicros(f.Since))
	}
	found, err := s.actions(ctx, w.String()+` ORDER BY created_at DESC, id DESC LIMIT ?`, append(w.Args, sqlLimit(f.Limit))...)
	return found, store.Wrap(err, "list actions")
}

func (s *Store) actions(ctx context.Context, query string, args ...any) ([]hearken.Action, error) {
	var found []hearken.Action
	err := s.eachRow(ctx, `SELECT version, same, document FROM action`+query, args, func(rows *sql.Rows) (bool, error) {
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
	var n int
	err = s.erase(ctx, []string{"action", "alarm"}, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM alarm WHERE action IN (SELECT id FROM action WHERE `+forgettable+`)`, args...)
		if err != nil {
			return err
		}
		n, err = affected(tx.ExecContext(ctx, `DELETE FROM action WHERE `+forgettable, args...))
		return err
	})
	if err != nil && hearken.CodeOf(err) != hearken.Busy {
		return 0, fmt.Errorf("forget actions: %w", err)
	}
	return n, err
}
