// Package sqlite keeps sessions in one SQLite file, so that Hearken has
// durable, searchable transcripts without any server beside it.
//
// Several processes may have the file open at once, such as a command beside a
// running hub. What is deleted is overwritten in the file, in its full-text
// index and in its write-ahead log.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

var _ hearken.Store = (*Store)(nil)

// Store is a SQLite file. [hearken.Store] describes its methods.
type Store struct {
	path     string
	reads    *sql.DB
	writes   *sql.DB  // one connection: SQLite has one writer at a time
	prepared sync.Map // statements for reading, by their query
}

// Settings of the connections. The hub deletes its own journal once Save has
// returned, so a commit must survive a power cut: synchronous is full, which
// costs one sync for each Save. The busy timeout is long because another
// process may hold the write lock while it deletes a long session.
const (
	allOptions   = "?_pragma=busy_timeout(10000)&_pragma=synchronous(full)&_pragma=temp_store(memory)"
	writeOptions = allOptions + "&_pragma=foreign_keys(on)&_pragma=secure_delete(on)&_txlock=immediate"
	readOptions  = allOptions + "&_pragma=query_only(on)&_pragma=cache_size(-16000)"
	readers      = 4 // connections
)

// Open opens the database at path and creates it if it does not exist. Only the
// current user can read a new file. If the file is gone but its log is still
// there, that is [hearken.NotFound]: SQLite would delete the log.
func Open(ctx context.Context, path string) (*Store, error) {
	if err := checkLogs(path); err != nil {
		return nil, err
	}
	if err := createFile(path); err != nil {
		return nil, unusable(path, err)
	}
	return open(ctx, path, false)
}

// OpenExisting opens the database at path. If there is none, or an empty file,
// that is [hearken.NotFound].
func OpenExisting(ctx context.Context, path string) (*Store, error) {
	if err := checkLogs(path); err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, hearken.Errorf(hearken.NotFound, "The database %s is missing.", path)
	case err == nil && info.Mode().IsRegular() && info.Size() == 0:
		return nil, emptyError(path)
	}
	if err := createFile(path); err != nil { // it exists; this checks that it is a file
		return nil, unusable(path, err)
	}
	return open(ctx, path, true)
}

func open(ctx context.Context, path string, existing bool) (*Store, error) {
	uri, err := fileURI(path)
	if err != nil {
		return nil, unusable(path, err)
	}
	s := &Store{path: path}
	if s.writes, err = sql.Open("sqlite", uri+writeOptions); err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	s.writes.SetMaxOpenConns(1)
	if err := s.prepare(ctx, existing); err != nil {
		_ = s.writes.Close() // nothing was written
		if hearken.CodeOf(err) != "" || ctx.Err() != nil {
			return nil, err
		}
		return nil, unusable(path, err)
	}
	if s.reads, err = sql.Open("sqlite", uri+readOptions); err != nil {
		_ = s.writes.Close() // nothing is being written
		return nil, fmt.Errorf("open database: %w", err)
	}
	s.reads.SetMaxOpenConns(readers)
	s.reads.SetMaxIdleConns(readers)
	return s, nil
}

// prepare migrates the file and checks that it can be written. With existing, an
// empty database is an error.
func (s *Store) prepare(ctx context.Context, existing bool) error {
	if err := s.migrate(ctx, existing); err != nil {
		return err
	}
	// Taking the write lock fails if the file cannot be written.
	tx, err := s.writes.BeginTx(ctx, nil)
	switch {
	case isBusy(err): // another process writes, so it can be written
		return nil
	case err != nil:
		return err
	}
	defer tx.Rollback()
	var pending bool
	if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM unscrubbed)`).Scan(&pending); err != nil {
		return fmt.Errorf("read state: %w", err)
	}
	if err := tx.Rollback(); err != nil || !pending {
		return err
	}
	// A process ended after it deleted text and before it truncated the log. If
	// the log is in use now, the next Delete or Open truncates it.
	if err := s.truncateLog(ctx); err != nil && hearken.CodeOf(err) != hearken.Busy {
		return err
	}
	return nil
}

// Close closes the file.
func (s *Store) Close() error {
	return errors.Join(s.reads.Close(), s.writes.Close())
}

// createFile creates an empty file that only the current user can read. SQLite
// gives the same mode to the files that it creates beside it.
func createFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		// It must not be opened here: closing it would drop the locks that
		// another connection of this process has on it.
		if info, err := os.Stat(path); err != nil {
			return err
		} else if !info.Mode().IsRegular() {
			return errors.New("not a file")
		}
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// fileURI returns the URI of a database, without options.
func fileURI(path string) (string, error) {
	abs, err := filepath.Abs(path)
	return (&url.URL{Scheme: "file", OmitHost: true, Path: uriPath(abs)}).String(), err
}

// uriPath turns an absolute path into that of a URI: /C:/data on Windows.
func uriPath(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return path
}

func unusable(path string, err error) error {
	return hearken.Errorf(hearken.RepositoryError, "The database %s cannot be used: %w.", path, err).
		WithTry("check that the file is a Hearken database that you may write, or set DATABASE_URL to another one")
}

func isBusy(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && e.Code()&0xff == sqlite3.SQLITE_BUSY
}

// preparedStatement returns the prepared statement of a query.
func (s *Store) preparedStatement(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt, ok := s.prepared.Load(query); ok {
		return stmt.(*sql.Stmt), nil
	}
	stmt, err := s.reads.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	if other, loaded := s.prepared.LoadOrStore(query, stmt); loaded {
		stmt.Close()
		return other.(*sql.Stmt), nil
	}
	return stmt, nil
}

// eachRow runs a query and calls f with each row while f returns more. SQLite
// looks for a row only when it is read, so the query needs no limit.
func (s *Store) eachRow(ctx context.Context, query string, args []any, f func(*sql.Rows) (more bool, err error)) error {
	stmt, err := s.preparedStatement(ctx, query)
	if err != nil {
		return err
	}
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if more, err := f(rows); err != nil || !more {
			return err
		}
	}
	return rows.Err()
}

// exec runs one statement in a transaction and returns how many rows it
// affected.
func (s *Store) exec(ctx context.Context, query string, args ...any) (rows int, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		rows, err = affected(tx.ExecContext(ctx, query, args...))
		return err
	})
	return rows, err
}

// affected returns how many rows a statement affected.
func affected(done sql.Result, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	n, err := done.RowsAffected()
	return int(n), err
}

// write runs f in a transaction that holds the write lock from the start.
func (s *Store) write(ctx context.Context, f func(tx *sql.Tx) error) error {
	tx, err := s.writes.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		return err
	}
	return store.Wrap(tx.Commit(), "commit")
}
