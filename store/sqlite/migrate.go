package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/hearken-dev/hearken"
)

//go:embed sql/*.sql
var migrations embed.FS

const applicationID = 0x48726b6e

// migrate applies the numbered files in sql that are new to the database, each
// in one transaction. The database's user_version is the number of the last.
func (s *Store) migrate(ctx context.Context, existing bool) error {
	files, err := fs.Glob(migrations, "sql/*.sql") // in the order of their numbers
	if err != nil {
		return err
	}
	version, err := s.version(ctx, s.writes, len(files))
	if err != nil || version == len(files) {
		return err
	}
	if version == 0 && existing {
		return emptyError(s.path)
	}
	if _, err := s.writes.ExecContext(ctx, `PRAGMA journal_mode = wal`); err != nil {
		return fmt.Errorf("enable wal: %w", err)
	}
	for i, file := range files {
		text, err := migrations.ReadFile(file)
		if err != nil {
			return err
		}
		err = s.write(ctx, func(tx *sql.Tx) error {
			// Another process may have done it meanwhile.
			version, err := s.version(ctx, tx, len(files))
			if err != nil || version > i {
				return err
			}
			_, err = tx.ExecContext(ctx, string(text)+fmt.Sprintf("\nPRAGMA user_version = %d;", i+1))
			return err
		})
		if err != nil {
			return fmt.Errorf("migrate to %s: %w", file, err)
		}
	}
	return nil
}

// querier is what a database and a transaction have in common.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// version returns the number of the database's last migration. It refuses a
// database of another program, and one with a higher version than known.
func (s *Store) version(ctx context.Context, db querier, known int) (int, error) {
	var version, application, tables int
	err := db.QueryRowContext(ctx, `SELECT
		(SELECT user_version FROM pragma_user_version),
		(SELECT application_id FROM pragma_application_id),
		(SELECT count(*) FROM sqlite_schema)`).Scan(&version, &application, &tables)
	switch {
	case err != nil:
		return 0, fmt.Errorf("read version: %w", err)
	case tables > 0 && application != applicationID:
		return 0, hearken.Errorf(hearken.RepositoryError, "The database %s belongs to another program.", s.path).
			WithTry("set DATABASE_URL to a file of its own")
	case version > known:
		return 0, hearken.Errorf(hearken.RepositoryError,
			"The database %s has version %d, but this Hearken knows only versions up to %d.", s.path, version, known).
			WithTry("the newer Hearken that wrote it, or set DATABASE_URL to another file")
	}
	return version, nil
}
