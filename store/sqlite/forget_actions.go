package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
)

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

// ForgetInActions implements [hearken.ActionStore]. It may return
// [hearken.Busy], as Delete does; the actions are changed even then.
func (s *Store) ForgetInActions(ctx context.Context, session string, change func(*hearken.Action) bool) (int, error) {
	all, err := s.actions(ctx, mentionsSession, session)
	if err != nil {
		return 0, fmt.Errorf("forget in actions: %w", err)
	}
	var unscrubbed bool // what an earlier call left to do
	if err := s.reads.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM unscrubbed)`).Scan(&unscrubbed); err != nil {
		return 0, fmt.Errorf("forget in actions: %w", err)
	}
	if !unscrubbed && !slices.ContainsFunc(all, func(a hearken.Action) bool { return change(&a) }) {
		return 0, nil
	}
	var n int
	err = s.erase(ctx, []string{"action"}, func(tx *sql.Tx) error {
		n, err = changeActions(ctx, tx, session, change)
		return err
	})
	if err != nil && hearken.CodeOf(err) != hearken.Busy {
		return 0, fmt.Errorf("forget in actions: %w", err)
	}
	return n, err
}

// mentionsSession selects the actions that may have evidence from a session,
// without decoding them. All of them mention an empty session.
const mentionsSession = ` WHERE instr(document, ?) > 0`

// changeActions saves the actions that change changes.
func changeActions(ctx context.Context, tx *sql.Tx, session string, change func(*hearken.Action) bool) (n int, err error) {
	rows, err := tx.QueryContext(ctx, selectActions+mentionsSession, session)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var changed []hearken.Action
	for rows.Next() {
		a, err := scanAction(rows)
		if err != nil {
			return 0, err
		}
		if change(&a) {
			changed = append(changed, a)
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return 0, err
	}
	for i := range changed {
		args, err := actionArgs(&changed[i])
		if err != nil {
			return 0, err
		}
		if _, err := tx.ExecContext(ctx, updateAction, append(args, changed[i].Version)...); err != nil {
			return 0, err
		}
	}
	return len(changed), nil
}
