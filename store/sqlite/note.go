package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/hearken-dev/hearken"
)

// SaveNote implements [hearken.Store].
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
	if err != nil {
		return fmt.Errorf("save note: %w", err)
	}
	return nil
}

// Note implements [hearken.Store].
func (s *Store) Note(ctx context.Context, session string) (*hearken.Note, error) {
	n := hearken.Note{Session: session}
	var text, by sql.NullString
	var saved sql.NullInt64
	err := s.reads.QueryRowContext(ctx, `SELECT n.text, n.saved_at, n.by
		FROM session s LEFT JOIN note n ON n.session = s.key WHERE s.id = ?`, session).Scan(&text, &saved, &by)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, noSession(session)
	case err != nil:
		return nil, fmt.Errorf("find note: %w", err)
	case !saved.Valid:
		return nil, hearken.Errorf(hearken.NotFound, "The session %s has no note.", session)
	}
	n.Text, n.By, n.SavedAt = text.String, by.String, time.UnixMicro(saved.Int64).UTC()
	return &n, nil
}
