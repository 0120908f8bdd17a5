package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

func (s *Store) Save(ctx context.Context, session *hearken.Session, segments []hearken.Segment) error {
	if err := store.CheckSession(session, segments); err != nil {
		return err
	}
	return s.write(ctx, func(tx pgx.Tx) error {
		key, err := saveSession(ctx, tx, session)
		if err != nil {
			return fmt.Errorf("save session: %w", err)
		}
		return store.Wrap(saveSegments(ctx, tx, key, segments), "save segments")
	})
}

func saveSession(ctx context.Context, tx pgx.Tx, s *hearken.Session) (key int64, err error) {
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
		s.ID, validText(s.Title), validText(s.Status), validText(s.StopReason), validText(s.Language), validText(s.Provider),
		store.RoundTime(s.StartedAt), store.RoundTimePtr(s.StoppedAt), s.Duration, s.SegmentCount, s.Epoch, validText(s.Principal), jsonValue{s.Config},
	).Scan(&key)
	return key, err
}

const sessionColumns = `s.id, s.title, s.status, s.stop_reason, s.language, s.provider, s.started_at,
	s.stopped_at, s.duration, s.segment_count, s.epoch, s.principal, s.config`

func scanSession(row pgx.CollectableRow) (s hearken.Session, err error) {
	err = row.Scan(&s.ID, &s.Title, &s.Status, &s.StopReason, &s.Language, &s.Provider, &s.StartedAt,
		&s.StoppedAt, &s.Duration, &s.SegmentCount, &s.Epoch, &s.Principal, &s.Config)
	s.StartedAt, s.StoppedAt = s.StartedAt.UTC(), utc(s.StoppedAt)
	return s, err
}

func (s *Store) Session(ctx context.Context, id string) (*hearken.Session, error) {
	if !hearken.ValidID(id) {
		return nil, store.NoSession(id)
	}
	found, err := collect(ctx, s, scanSession, `SELECT `+sessionColumns+` FROM hearken_session s WHERE s.id = $1`, id)
	return store.One(found, store.Wrap(err, "find session"), store.NoSession(id))
}

func (s *Store) Sessions(ctx context.Context, f hearken.SessionFilter) ([]hearken.Session, error) {
	w := store.Where{}
	if f.Status != "" {
		w.And(`s.status = ?`, validText(f.Status))
	}
	if !f.Since.IsZero() {
		w.And(`s.started_at >= ?`, store.CeilTime(f.Since))
	}
	if !f.Until.IsZero() {
		w.And(`s.started_at < ?`, store.CeilTime(f.Until))
	}
	query := `SELECT ` + sessionColumns + ` FROM hearken_session s` + numbered(w) + ` ORDER BY s.started_at DESC, s.id DESC`
	if f.Limit > 0 {
		query += fmt.Sprintf(` LIMIT %d`, f.Limit)
	}
	found, err := collect(ctx, s, scanSession, query, w.Args...)
	return found, store.Wrap(err, "list sessions")
}

func (s *Store) Delete(ctx context.Context, id string) error {
	if !hearken.ValidID(id) {
		return store.NoSession(id)
	}
	done, err := s.pool.Exec(ctx, `DELETE FROM hearken_session WHERE id = $1`, id)
	if err == nil && done.RowsAffected() == 0 {
		return store.NoSession(id)
	}
	return store.Wrap(err, "delete session")
}

func (s *Store) SaveNote(ctx context.Context, n *hearken.Note) error {
	return s.write(ctx, func(tx pgx.Tx) error {
		session, err := sessionKey(ctx, tx, n.Session)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO hearken_note (session, text, saved_at, by) VALUES ($1, $2, $3, $4)
			ON CONFLICT (session) DO UPDATE SET text = excluded.text, saved_at = excluded.saved_at, by = excluded.by`,
			session, validText(n.Text), store.RoundTime(n.SavedAt), validText(n.By))
		return store.Wrap(err, "save note")
	})
}

func (s *Store) Note(ctx context.Context, session string) (*hearken.Note, error) {
	key, err := sessionKey(ctx, s.pool, session)
	if err != nil {
		return nil, err
	}
	n := hearken.Note{Session: session}
	err = s.pool.QueryRow(ctx, `SELECT text, saved_at, by FROM hearken_note WHERE session = $1`, key).
		Scan(&n.Text, &n.SavedAt, &n.By)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, store.NoNote(session)
	}
	n.SavedAt = n.SavedAt.UTC()
	return &n, store.Wrap(err, "find note")
}
