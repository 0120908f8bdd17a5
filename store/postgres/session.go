package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/hearken-dev/hearken"
)

// Save implements [hearken.Store].
func (s *Store) Save(ctx context.Context, session *hearken.Session, segments []hearken.Segment) error {
	if !hearken.ValidID(session.ID) {
		return hearken.Errorf(hearken.Invalid, "The session id %q is not a UUID.", session.ID)
	}
	for _, g := range segments {
		if g.Line < 1 {
			return hearken.Errorf(hearken.Invalid, "A segment has the line %d; the first line is 1.", g.Line)
		}
	}
	return s.write(ctx, func(tx pgx.Tx) error {
		key, err := putSession(ctx, tx, session)
		if err != nil {
			return fmt.Errorf("save session: %w", err)
		}
		if err := putSegments(ctx, tx, key, segments); err != nil {
			return fmt.Errorf("save segments: %w", err)
		}
		return nil
	})
}

func putSession(ctx context.Context, tx pgx.Tx, s *hearken.Session) (key int64, err error) {
	config, err := json.Marshal(s.Config)
	if err != nil {
		return 0, err
	}
	err = tx.QueryRow(ctx, `
		INSERT INTO hearken_session (id, title, status, stop_reason, language, provider, started_at,
			stopped_at, duration, segment_count, epoch, principal, config)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
		ON CONFLICT (id) DO UPDATE SET title = excluded.title, status = excluded.status,
			stop_reason = excluded.stop_reason, language = excluded.language,
			provider = excluded.provider, started_at = excluded.started_at,
			stopped_at = excluded.stopped_at, duration = excluded.duration,
			segment_count = excluded.segment_count, epoch = excluded.epoch,
			principal = excluded.principal, config = excluded.config
		RETURNING key`,
		s.ID, clean(s.Title), clean(s.Status), clean(s.StopReason), clean(s.Language), clean(s.Provider),
		stored(s.StartedAt), storedPtr(s.StoppedAt), s.Duration, s.SegmentCount, s.Epoch, clean(s.Principal), string(config),
	).Scan(&key)
	return key, err
}

const sessionColumns = `s.id, s.title, s.status, s.stop_reason, s.language, s.provider, s.started_at,
	s.stopped_at, s.duration, s.segment_count, s.epoch, s.principal, s.config::text`

func scanSession(row pgx.CollectableRow) (s hearken.Session, err error) {
	var config string
	err = row.Scan(&s.ID, &s.Title, &s.Status, &s.StopReason, &s.Language, &s.Provider, &s.StartedAt,
		&s.StoppedAt, &s.Duration, &s.SegmentCount, &s.Epoch, &s.Principal, &config)
	if err != nil {
		return s, err
	}
	s.StartedAt, s.StoppedAt = s.StartedAt.UTC(), utc(s.StoppedAt)
	return s, json.Unmarshal([]byte(config), &s.Config)
}

// Session implements [hearken.Store].
func (s *Store) Session(ctx context.Context, id string) (*hearken.Session, error) {
	if !hearken.ValidID(id) {
		return nil, noSession(id)
	}
	found, err := s.sessions(ctx, `SELECT `+sessionColumns+` FROM hearken_session s WHERE s.id = $1`, id)
	if err != nil {
		return nil, fmt.Errorf("find session: %w", err)
	}
	if len(found) == 0 {
		return nil, noSession(id)
	}
	return &found[0], nil
}

// Sessions implements [hearken.Store].
func (s *Store) Sessions(ctx context.Context, f hearken.SessionFilter) ([]hearken.Session, error) {
	w := where{}
	if f.Status != "" {
		w.and(`s.status = %s`, clean(f.Status))
	}
	if !f.Since.IsZero() {
		w.and(`s.started_at >= %s`, ceil(f.Since))
	}
	if !f.Until.IsZero() {
		w.and(`s.started_at < %s`, ceil(f.Until))
	}
	query := `SELECT ` + sessionColumns + ` FROM hearken_session s` + w.String() + ` ORDER BY s.started_at DESC, s.id DESC`
	if f.Limit > 0 {
		query += fmt.Sprintf(` LIMIT %d`, f.Limit)
	}
	found, err := s.sessions(ctx, query, w.args...)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return found, nil
}

func (s *Store) sessions(ctx context.Context, query string, args ...any) ([]hearken.Session, error) {
	rows, err := s.pool.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanSession)
}

// Delete implements [hearken.Store].
func (s *Store) Delete(ctx context.Context, id string) error {
	if !hearken.ValidID(id) {
		return noSession(id)
	}
	done, err := s.pool.Exec(ctx, `DELETE FROM hearken_session WHERE id = $1`, id)
	if err != nil {
		return fmt.Errorf("delete session: %w", err)
	}
	if done.RowsAffected() == 0 {
		return noSession(id)
	}
	return nil
}

// where collects conditions, each with one argument.
type where struct {
	conditions []string
	args       []any
}

// and adds a condition in which %s stands for the argument.
func (w *where) and(condition string, arg any) {
	w.args = append(w.args, arg)
	w.conditions = append(w.conditions, fmt.Sprintf(condition, fmt.Sprintf("$%d", len(w.args))))
}

func (w *where) String() string {
	if len(w.conditions) == 0 {
		return ""
	}
	return ` WHERE ` + strings.Join(w.conditions, ` AND `)
}
