package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

func (s *Store) SaveAction(ctx context.Context, a *hearken.Action) (bool, error) {
	if err := store.CheckActionID(a.ID); err != nil {
		return false, err
	}
	grant := ""
	if a.Decision != nil {
		grant = a.Decision.Grant
	}
	saved, err := s.saveVersion(ctx, &a.Version,
		`INSERT INTO hearken_action (version, tool, principal, state, target, same, grant_id,
			created_at, ended_at, document, id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING`,
		`UPDATE hearken_action SET version = $1, tool = $2, principal = $3, state = $4, target = $5, same = $6,
			grant_id = $7, created_at = $8, ended_at = $9, document = $10 WHERE id = $11 AND version = $12`,
		a.Version+1, validText(a.Tool), validText(a.Principal), validText(a.State), validText(a.Target), validText(a.IdempotencyKey), validText(grant),
		store.RoundTime(a.CreatedAt), store.RoundTimePtr(a.OverAt()), jsonValue{store.RoundActionTimes(a)}, a.ID)
	return saved, store.Wrap(err, "save action")
}

// saveVersion inserts a row if version is 0, and otherwise updates the row that
// has this version, which it appends to the arguments. If it changed a row, it
// increments version and returns true; if not, another writer was first. Of two
// writers at once, the server lets one wait for the other and then look again.
func (s *Store) saveVersion(ctx context.Context, version *int, insert, update string, args ...any) (bool, error) {
	query := insert
	if *version != 0 {
		query, args = update, append(args, *version)
	}
	n, err := s.execDurably(ctx, query, args...)
	*version += n
	return n == 1, err
}

// execDurably runs one statement and returns how many rows it affected. They
// are on the server's disk when it returns, even if the server's default is to
// answer before that.
func (s *Store) execDurably(ctx context.Context, query string, args ...any) (rows int, err error) {
	var batch pgx.Batch // one transaction in one round trip
	batch.Queue(`SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'`)
	batch.Queue(query, args...)
	results := s.pool.SendBatch(ctx, &batch)
	if _, err := results.Exec(); err != nil {
		return 0, errors.Join(err, results.Close())
	}
	done, err := results.Exec()
	// Closing waits for the commit.
	if err := errors.Join(err, results.Close()); err != nil {
		return 0, err
	}
	return int(done.RowsAffected()), nil
}

func (s *Store) Action(ctx context.Context, id string) (*hearken.Action, error) {
	var found []hearken.Action
	var err error
	if hearken.ValidActionID(id) {
		found, err = s.actions(ctx, ` WHERE id = $1`, id)
	}
	return store.One(found, store.Wrap(err, "find action"), store.NoAction(id))
}

func (s *Store) Actions(ctx context.Context, f hearken.ActionFilter) ([]hearken.Action, error) {
	w := store.Where{}
	if len(f.States) > 0 {
		var states []string
		for _, state := range f.States {
			states = append(states, validText(state))
		}
		w.And(`state = ANY (?)`, states)
	}
	for _, equal := range []struct{ condition, value string }{
		{`principal = ?`, f.Principal}, {`tool = ?`, f.Tool}, {`target = ?`, f.Target},
		{`same = ?`, f.IdempotencyKey}, {`grant_id <> '' AND grant_id = ?`, f.Grant},
	} {
		if equal.value != "" {
			w.And(equal.condition, validText(equal.value))
		}
	}
	if f.PendingAudit {
		// As a text, because the server cannot read JSON with a NUL in it. Quotes
		// within a value have a backslash.
		w.And(`document::text LIKE ?`, `%"owed":"_%`)
	}
	if !f.Since.IsZero() {
		w.And(`created_at >= ?`, store.CeilTime(f.Since))
	}
	query := numbered(w) + ` ORDER BY created_at DESC, id DESC`
	if f.Limit > 0 {
		query += fmt.Sprintf(` LIMIT %d`, f.Limit)
	}
	found, err := s.actions(ctx, query, w.Args...)
	return found, store.Wrap(err, "list actions")
}

func (s *Store) actions(ctx context.Context, query string, args ...any) ([]hearken.Action, error) {
	return collect(ctx, s, func(row pgx.CollectableRow) (a hearken.Action, err error) {
		err = row.Scan(&a, &a.Version, &a.IdempotencyKey) // in this order: the document resets the others
		return a, err
	}, `SELECT document, version, same FROM hearken_action`+query, args...)
}

// ForgetInActions implements [hearken.ActionStore]. The server keeps what it
// replaced in its own files until it needs the space: the bytes are beyond reach.
func (s *Store) ForgetInActions(ctx context.Context, session string, change func(*hearken.Action) bool) (n int, err error) {
	// As a text, because the server cannot read JSON with a NUL in it.
	all, err := s.actions(ctx, ` WHERE strpos(document::text, $1) > 0`, validText(session))
	if err != nil {
		return 0, fmt.Errorf("forget in actions: %w", err)
	}
	for i := range all {
		for a := &all[i]; a != nil && change(a); {
			saved, err := s.SaveAction(ctx, a)
			if err != nil {
				return n, err
			}
			if saved {
				n++
				break
			}
			// Somebody else was first.
			if a, err = s.Action(ctx, all[i].ID); err != nil && hearken.CodeOf(err) != hearken.NotFound {
				return n, err
			}
		}
	}
	return n, nil
}

func (s *Store) ForgetActions(ctx context.Context, before time.Time) (int, error) {
	n, err := s.execDurably(ctx, `
		WITH gone AS (
			DELETE FROM hearken_action a WHERE ended_at < $1 AND state <> ALL ($2) AND NOT EXISTS (
				SELECT 1 FROM hearken_alarm WHERE action = a.id AND (next_at IS NOT NULL OR firing_at IS NOT NULL))
			RETURNING id
		), silenced AS (
			DELETE FROM hearken_alarm WHERE action IN (SELECT id FROM gone)
		)
		SELECT id FROM gone`,
		store.CeilTime(before), []string{string(hearken.ActionPending), string(hearken.ActionApproved), string(hearken.ActionExecuting)})
	return n, store.Wrap(err, "forget actions")
}
