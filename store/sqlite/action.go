package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

func (s *Store) SaveAction(ctx context.Context, a *hearken.Action) (bool, error) {
	if err := store.CheckActionID(a.ID); err != nil {
		return false, err
	}
	args, err := actionArgs(a)
	if err != nil {
		return false, fmt.Errorf("save action: %w", err)
	}
	saved, err := s.saveVersion(ctx, &a.Version,
		`INSERT INTO action (version, tool, principal, state, target, same, grant_id, created_at, ended_at, document, id)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`, updateAction, args...)
	return saved, store.Wrap(err, "save action")
}

// updateAction updates an action that has a version, with actionArgs and that
// version.
const updateAction = `UPDATE action SET version = ?, tool = ?, principal = ?, state = ?, target = ?, same = ?, grant_id = ?,
	created_at = ?, ended_at = ?, document = ? WHERE id = ? AND version = ?`

// actionArgs are the arguments that save the next version of an action.
func actionArgs(a *hearken.Action) ([]any, error) {
	document, err := json.Marshal(store.RoundActionTimes(a))
	if err != nil {
		return nil, err
	}
	grant := ""
	if a.Decision != nil {
		grant = a.Decision.Grant
	}
	return []any{
		a.Version + 1, a.Tool, a.Principal, a.State, a.Target, a.IdempotencyKey, grant,
		a.CreatedAt.UnixMicro(), toMicros(a.OverAt()), string(document), a.ID,
	}, nil
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
	err := s.eachRow(ctx, selectActions+query, args, func(rows *sql.Rows) (bool, error) {
		a, err := scanAction(rows)
		found = append(found, a)
		return true, err
	})
	return found, err
}

const selectActions = `SELECT version, same, document FROM action`

func scanAction(rows *sql.Rows) (a hearken.Action, err error) {
	var version int
	var same string
	var document sql.RawBytes
	if err := rows.Scan(&version, &same, &document); err != nil {
		return a, err
	}
	err = json.Unmarshal(document, &a)
	a.Version, a.IdempotencyKey = version, same
	return a, err
}
