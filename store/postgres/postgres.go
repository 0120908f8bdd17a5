// Package postgres keeps sessions in a PostgreSQL database, for those who run
// several hubs or have a server that is backed up already.
//
// It needs PostgreSQL 13 or later and the right to create tables in the first
// schema of the search path, but no extension and no superuser. Deleting
// removes rows. When the server overwrites their bytes in its files, logs and
// backups is up to those who run it.
package postgres

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

var _ hearken.Store = (*Store)(nil)

// Store is a PostgreSQL database. [hearken.Store] describes its methods.
type Store struct {
	pool *pgxpool.Pool
}

// Open connects to the database at a postgres:// URL, creates its tables or
// brings them up to date. The URL may hold settings of the pool, such as
// pool_max_conns.
func Open(ctx context.Context, url string) (*Store, error) { return open(ctx, url, false) }

// OpenExisting is [Open] for a database that has the tables. If it has none,
// that is [hearken.NotFound].
func OpenExisting(ctx context.Context, url string) (*Store, error) { return open(ctx, url, true) }

func open(ctx context.Context, url string, existing bool) (*Store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, unusable(err)
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, unusable(err)
	}
	s := &Store{pool: pool}
	if err := s.migrate(ctx, existing); err != nil {
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

// unusable wraps an error of the driver, which never contains the password.
func unusable(err error) error {
	return hearken.Errorf(hearken.RepositoryError, "The PostgreSQL database cannot be used: %w.", err).
		WithTry("check DATABASE_URL, that the server runs, and that its user may create tables")
}

// write runs f in a transaction.
func (s *Store) write(ctx context.Context, f func(tx pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, s.pool, f)
}

// validText replaces what PostgreSQL refuses in a text: invalid UTF-8 and NUL
// bytes.
func validText[T ~string](s T) string {
	return strings.ReplaceAll(strings.ToValidUTF8(string(s), "\ufffd"), "\x00", "\ufffd")
}

// A jsonValue is an argument that is stored as JSON, in every mode of the
// driver.
type jsonValue struct{ value any }

func (v jsonValue) Value() (driver.Value, error) {
	text, err := json.Marshal(v.value)
	return string(text), err
}

// collect reads all rows that a query finds.
func collect[T any](ctx context.Context, s *Store, scan pgx.RowToFunc[T], query string, args ...any) ([]T, error) {
	rows, err := s.pool.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scan)
}

func utc(t *time.Time) *time.Time { return store.Convert(t, time.Time.UTC) }

// querier is what the pool and a transaction have in common.
type querier interface {
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}

// sessionKey finds the row key of a session.
func sessionKey(ctx context.Context, db querier, id string) (key int64, err error) {
	if !hearken.ValidID(id) {
		return 0, store.NoSession(id)
	}
	err = db.QueryRow(ctx, `SELECT key FROM hearken_session WHERE id = $1`, id).Scan(&key)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, store.NoSession(id)
	}
	return key, store.Wrap(err, "find session")
}

// numbered returns a WHERE clause with the placeholders of PostgreSQL: $1, $2.
func numbered(w store.Where) string {
	var b strings.Builder
	for i, part := range strings.Split(w.String(), "?") {
		if i > 0 {
			fmt.Fprintf(&b, "$%d", i)
		}
		b.WriteString(part)
	}
	return b.String()
}
