package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

// Delete implements [hearken.Store]. If another process reads for so long that
// the write-ahead log cannot be truncated, the session is deleted but the error
// is [hearken.Busy]. The next Delete, Forget or Open truncates the log.
func (s *Store) Delete(ctx context.Context, id string) error {
	err := s.deleteSegments(ctx, id, `session = ?`, nil, func(tx *sql.Tx, session int64) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM note WHERE session = ?`, session); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM session WHERE key = ?`, session)
		return err
	})
	return store.Wrap(err, "delete session")
}

// Forget implements [hearken.Store]. It may return [hearken.Busy], as Delete
// does.
func (s *Store) Forget(ctx context.Context, id string, from, to float64) error {
	err := s.deleteSegments(ctx, id, `session = ? AND source <> ? AND end_time > ? AND start_time < ?`,
		[]any{hearken.EventOrigin, from, to}, func(*sql.Tx, int64) error { return nil })
	return store.Wrap(err, "forget")
}

// deleteSegments deletes and overwrites those segments of a session that fulfil
// a condition, and what more deletes. The first argument of the condition is the
// key of the session.
func (s *Store) deleteSegments(ctx context.Context, id, condition string, args []any, more func(tx *sql.Tx, session int64) error) error {
	return s.erase(ctx, []string{"session", "segment", "note", "term"}, func(tx *sql.Tx) error {
		session, err := sessionKey(ctx, tx, id)
		if err != nil {
			return err
		}
		args := append([]any{session}, args...)
		if err := unindex(ctx, tx, condition, args); err != nil {
			return fmt.Errorf("index: %w", err)
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM segment WHERE `+condition, args...); err != nil {
			return err
		}
		return more(tx, session)
	})
}

// erase runs f, which deletes from these tables, and overwrites in the files
// what they held.
func (s *Store) erase(ctx context.Context, tables []string, f func(tx *sql.Tx) error) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		if err := f(tx); err != nil {
			return err
		}
		if err := zeroPages(ctx, tx, tables); err != nil {
			return fmt.Errorf("overwrite: %w", err)
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO unscrubbed VALUES (?)`, time.Now().UnixMicro())
		return err
	})
	if err != nil {
		return err
	}
	return s.truncateLog(ctx)
}

// unindex removes the segments that fulfil a condition from the full-text index.
func unindex(ctx context.Context, tx *sql.Tx, condition string, args []any) error {
	index, err := newTextIndex(ctx, tx)
	if err != nil {
		return err
	}
	rows, err := tx.QueryContext(ctx, `SELECT key, source, status, text FROM segment WHERE `+condition, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var key int64
		var g hearken.Segment
		if err := rows.Scan(&key, &g.Origin, &g.Status, &g.Text); err != nil {
			return err
		}
		if err := index.update(ctx, index.delete, key, &g); err != nil {
			return err
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	return index.pruneTerms(ctx)
}

// truncateLog moves the write-ahead log into the file and empties it. The log
// still holds pages from before the deletion.
func (s *Store) truncateLog(ctx context.Context) error {
	var busy, pages, moved int
	err := s.writes.QueryRowContext(ctx, `PRAGMA wal_checkpoint(truncate)`).Scan(&busy, &pages, &moved)
	if busy != 0 || isBusy(err) {
		return hearken.Errorf(hearken.Busy,
			"It is deleted, but its text is still in the write-ahead log, because another program has the database %s open.", s.path).
			WithTry("closing the other program")
	}
	if err != nil {
		return fmt.Errorf("truncate log: %w", err)
	}
	if _, err := s.writes.ExecContext(ctx, `DELETE FROM unscrubbed`); err != nil {
		return fmt.Errorf("truncate log: %w", err)
	}
	return nil
}
