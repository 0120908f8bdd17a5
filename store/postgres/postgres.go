// Package postgres keeps sessions in a PostgreSQL database, for those who run
// several hubs or have a server that is backed up already.
//
// It needs PostgreSQL 13 or later, no extension and no superuser: only the
// right to create tables in the first schema of the search path. Deleting
// removes rows; when the server overwrites the bytes of deleted rows in its own
// files, logs and backups is up to those who run it.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hearken-dev/hearken"
)

var _ hearken.Store = (*Store)(nil)

// Store is a PostgreSQL database.
type Store struct {
	pool *pgxpool.Pool
}

// Open connects to the database at a postgres:// URL and brings its tables up
// to date. Settings of the pool, such as pool_max_conns, may stand in the URL.
func Open(ctx context.Context, url string) (*Store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, unusable(err)
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, unusable(err)
	}
	s := &Store{pool: pool}
	if err := s.migrate(ctx); err != nil {
		pool.Close()
		if hearken.CodeOf(err) != "" || ctx.Err() != nil {
			return nil, err
		}
		return nil, unusable(err)
	}
	return s, nil
}

// Close closes all connections.
func (s *Store) Close() error {
	s.pool.Close()
	return nil
}

// unusable says what is wrong; the driver keeps passwords out of its errors.
func unusable(err error) error {
	return hearken.Errorf(hearken.RepositoryError, "The PostgreSQL database cannot be used: %w.", err).
		WithTry("check DATABASE_URL, that the server runs, and that its user may create tables")
}

// write runs f in a transaction.
func (s *Store) write(ctx context.Context, f func(tx pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, s.pool, f)
}

// clean makes a text that PostgreSQL takes: valid, and without NUL bytes.
func clean[T ~string](s T) string {
	return strings.ReplaceAll(strings.ToValidUTF8(string(s), "\ufffd"), "\x00", "\ufffd")
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

// ceil is the first stored time that is not before t.
func ceil(t time.Time) time.Time { return stored(t.Add(time.Microsecond - 1)) }

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

func noSession(id string) error {
	return hearken.Errorf(hearken.SessionNotFound, "There is no session %s.", id).WithTry("list the sessions")
}

// querier is what the pool and a transaction have in common.
type querier interface {
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}

// sessionKey finds the key of a session.
func sessionKey(ctx context.Context, db querier, id string) (key int64, err error) {
	if !hearken.ValidID(id) {
		return 0, noSession(id)
	}
	err = db.QueryRow(ctx, `SELECT key FROM hearken_session WHERE id = $1`, id).Scan(&key)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, noSession(id)
	}
	if err != nil {
		return 0, fmt.Errorf("find session: %w", err)
	}
	return key, nil
}
