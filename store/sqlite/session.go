package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

func (s *Store) Save(ctx context.Context, session *hearken.Session, segments []hearken.Segment) error {
	if err := store.CheckSession(session, segments); err != nil {
		return err
	}
	return s.write(ctx, func(tx *sql.Tx) error {
		key, err := saveSession(ctx, tx, session)
		if err != nil {
			return fmt.Errorf("save session: %w", err)
		}
		return store.Wrap(saveSegments(ctx, tx, key, segments), "save segments")
	})
}

func saveSession(ctx context.Context, tx *sql.Tx, s *hearken.Session) (key int64, err error) {
	config, err := json.Marshal(s.Config)
	if err != nil {
		return 0, err
	}
	err = tx.QueryRowContext(ctx, `
		INSERT INTO session (id, title, status, stop_reason, language, provider, started_at,
			stopped_at, duration, segment_count, epoch, principal, config)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET title = excluded.title, status = excluded.status,
			stop_reason = excluded.stop_reason, language = excluded.language,
			provider = excluded.provider, started_at = excluded.started_at,
			stopped_at = excluded.stopped_at, duration = excluded.duration,
			segment_count = excluded.segment_count, epoch = excluded.epoch,
			principal = excluded.principal, config = excluded.config
		RETURNING key`,
		s.ID, s.Title, s.Status, s.StopReason, s.Language, s.Provider, s.StartedAt.UnixMicro(),
		toMicros(s.StoppedAt), s.Duration, s.SegmentCount, s.Epoch, s.Principal, string(config),
	).Scan(&key)
	return key, err
}

const sessionColumns = `s.id, s.title, s.status, s.stop_reason, s.language, s.provider, s.started_at,
	s.stopped_at, s.duration, s.segment_count, s.epoch, s.principal, s.config`

func scanSession(rows *sql.Rows, s *hearken.Session) error {
	var started int64
	var stopped *int64
	var config sql.RawBytes
	err := rows.Scan(&s.ID, &s.Title, &s.Status, &s.StopReason, &s.Language, &s.Provider, &started,
		&stopped, &s.Duration, &s.SegmentCount, &s.Epoch, &s.Principal, &config)
	if err != nil {
		return err
	}
	s.StartedAt, s.StoppedAt = fromMicros(started), fromMicrosPtr(stopped)
	if string(config) == "{}" {
		return nil
	}
	return json.Unmarshal(config, &s.Config)
}

func (s *Store) Session(ctx context.Context, id string) (*hearken.Session, error) {
	found, err := s.sessions(ctx, `SELECT `+sessionColumns+` FROM session s WHERE s.id = ?`, id)
	return store.One(found, store.Wrap(err, "find session"), store.NoSession(id))
}

func (s *Store) Sessions(ctx context.Context, f hearken.SessionFilter) ([]hearken.Session, error) {
	w := store.Where{}
	if f.Status != "" {
		w.And(`s.status = ?`, f.Status)
	}
	if !f.Since.IsZero() {
		w.And(`s.started_at >= ?`, ceilMicros(f.Since))
	}
	if !f.Until.IsZero() {
		w.And(`s.started_at < ?`, ceilMicros(f.Until))
	}
	found, err := s.sessions(ctx, `SELECT `+sessionColumns+` FROM session s`+w.String()+
		` ORDER BY s.started_at DESC, s.id DESC LIMIT ?`, append(w.Args, sqlLimit(f.Limit))...)
	return found, store.Wrap(err, "list sessions")
}

func (s *Store) sessions(ctx context.Context, query string, args ...any) ([]hearken.Session, error) {
	var found []hearken.Session
	err := s.eachRow(ctx, query, args, func(rows *sql.Rows) (bool, error) {
		found = append(found, hearken.Session{})
		return true, scanSession(rows, &found[len(found)-1])
	})
	return found, err
}

// sqlLimit returns the LIMIT for a filter in which 0 means none.
func sqlLimit(limit int) int {
	if limit <= 0 {
		return -1
	}
	return limit
}

// sessionKey finds the row key of a session.
func sessionKey(ctx context.Context, db querier, id string) (key int64, err error) {
	err = db.QueryRowContext(ctx, `SELECT key FROM session WHERE id = ?`, id).Scan(&key)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, store.NoSession(id)
	}
	return key, err
}

func (s *Store) SaveNote(ctx context.Context, n *hearken.Note) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		session, err := sessionKey(ctx, tx, n.Session)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO note (session, text, saved_at, by) VALUES (?, ?, ?, ?)
			ON CONFLICT (session) DO UPDATE SET text = excluded.text, saved_at = excluded.saved_at, by = excluded.by`,
			session, n.Text, n.SavedAt.UnixMicro(), n.By)
		return err
	})
	return store.Wrap(err, "save note")
}

func (s *Store) Note(ctx context.Context, session string) (*hearken.Note, error) {
	n := hearken.Note{Session: session}
	var text, by sql.NullString
	var saved sql.NullInt64
	err := s.reads.QueryRowContext(ctx, `SELECT n.text, n.saved_at, n.by
		FROM session s LEFT JOIN note n ON n.session = s.key WHERE s.id = ?`, session).Scan(&text, &saved, &by)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, store.NoSession(session)
	case err != nil:
		return nil, fmt.Errorf("find note: %w", err)
	case !saved.Valid:
		return nil, store.NoNote(session)
	}
	n.Text, n.By, n.SavedAt = text.String, by.String, fromMicros(saved.Int64)
	return &n, nil
}

// toMicros is a time as it is stored; nil is NULL.
func toMicros(t *time.Time) *int64 { return store.Convert(t, time.Time.UnixMicro) }

func fromMicros(n int64) time.Time { return time.UnixMicro(n).UTC() }

func fromMicrosPtr(n *int64) *time.Time { return store.Convert(n, fromMicros) }

// ceilMicros is the first stored time that is not before t.
func ceilMicros(t time.Time) int64 { return store.CeilTime(t).UnixMicro() }
