// Package sqlite keeps sessions in one SQLite file, so that Hearken has
// durable, searchable transcripts without any server beside it.
//
// The file may be open in several processes at once, such as a command line
// beside a running hub. What is deleted is overwritten in the file, in its
// full-text index and in its write-ahead log.
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
)

var _ hearken.Store = (*Store)(nil)

// Store is a SQLite file.
type Store struct {
	path    string
	reads   *sql.DB
	writes  *sql.DB // one connection: SQLite has one writer at a time
	prepare sync.Map
}

// Settings of every connection. The hub lets go of its own journal once Save
// has returned, so a commit must survive a power cut: synchronous is full,
// which costs one sync for each Save. Another process may hold the write lock
// for as long as it takes to delete a long session, hence the patience.
const (
	forAll    = "?_pragma=busy_timeout(10000)&_pragma=synchronous(full)&_pragma=temp_store(memory)"
	forWrites = forAll + "&_pragma=foreign_keys(on)&_pragma=secure_delete(on)&_txlock=immediate"
	forReads  = forAll + "&_pragma=query_only(on)&_pragma=cache_size(-16000)"
	readers   = 4
)

// Open opens the database at path and makes it if it is not there. A file
// that is new is readable by its owner only.
func Open(ctx context.Context, path string) (*Store, error) {
	if err := create(path); err != nil {
		return nil, unusable(path, err)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, unusable(path, err)
	}
	uri := (&url.URL{Scheme: "file", OmitHost: true, Path: slashed(abs)}).String()
	s := &Store{path: path}
	if s.writes, err = sql.Open("sqlite", uri+forWrites); err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	s.writes.SetMaxOpenConns(1)
	if err := s.begin(ctx); err != nil {
		_ = s.writes.Close() // nothing was written
		if hearken.CodeOf(err) != "" || ctx.Err() != nil {
			return nil, err
		}
		return nil, unusable(path, err)
	}
	if s.reads, err = sql.Open("sqlite", uri+forReads); err != nil {
		_ = s.writes.Close() // nothing is being written
		return nil, fmt.Errorf("open database: %w", err)
	}
	s.reads.SetMaxOpenConns(readers)
	s.reads.SetMaxIdleConns(readers)
	return s, nil
}

// begin brings the file up to date and makes sure that it can be written.
func (s *Store) begin(ctx context.Context) error {
	if err := s.migrate(ctx); err != nil {
		return err
	}
	// Taking the lock and giving it back tells a file that cannot be written.
	tx, err := s.writes.BeginTx(ctx, nil)
	switch {
	case isBusy(err): // somebody writes, so it can be written
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
	// A process ended between deleting and scrubbing. If the log is in use
	// now, the next one to delete or to open will do it.
	if err := s.scrub(ctx); err != nil && hearken.CodeOf(err) != hearken.Busy {
		return err
	}
	return nil
}

// Close closes the file.
func (s *Store) Close() error {
	return errors.Join(s.reads.Close(), s.writes.Close())
}

// create makes an empty file that only its owner can read. SQLite gives the
// files that it puts beside it the same mode.
func create(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		// Opened here it would be closed here, which drops the locks that
		// another connection of this process may have on it.
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

// slashed makes an absolute path fit for a URI: /C:/data on Windows.
func slashed(path string) string {
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

// read finds the prepared form of a query.
func (s *Store) read(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt, ok := s.prepare.Load(query); ok {
		return stmt.(*sql.Stmt), nil
	}
	stmt, err := s.reads.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	if other, loaded := s.prepare.LoadOrStore(query, stmt); loaded {
		stmt.Close()
		return other.(*sql.Stmt), nil
	}
	return stmt, nil
}

// rows runs a query and gives each row to f until it has enough. SQLite looks
// for a row only when it is asked for it, so this needs no limit in the query.
func (s *Store) rows(ctx context.Context, query string, args []any, f func(*sql.Rows) (more bool, err error)) error {
	stmt, err := s.read(ctx, query)
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

// write runs f in a transaction that holds the write lock from its beginning.
func (s *Store) write(ctx context.Context, f func(tx *sql.Tx) error) error {
	tx, err := s.writes.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}
