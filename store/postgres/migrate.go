package postgres

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"

	"github.com/hearken-dev/hearken"
)

//go:embed sql/*.sql
var migrations embed.FS

// migrationLock keeps hubs that start at the same time from migrating at the
// same time.
const migrationLock = 0x48726b6e

// migrate applies the numbered files in sql that are new to the database, each
// in one transaction.
func (s *Store) migrate(ctx context.Context, existing bool) error {
	files, err := fs.Glob(migrations, "sql/*.sql") // in the order of their numbers
	if err != nil {
		return err
	}
	for i, file := range files {
		version, err := s.version(ctx)
		if err != nil {
			return err
		}
		if version > len(files) {
			return hearken.Errorf(hearken.RepositoryError,
				"The PostgreSQL database has version %d, but this Hearken knows only versions up to %d.", version, len(files)).
				WithTry("the newer Hearken that wrote it, or set DATABASE_URL to another database")
		}
		if version > i {
			continue
		}
		if version == 0 && existing {
			c := s.pool.Config().ConnConfig
			return hearken.Errorf(hearken.NotFound, "The PostgreSQL database %s on %s has no tables of Hearken.", c.Database, c.Host)
		}
		text, err := migrations.ReadFile(file)
		if err != nil {
			return err
		}
		if err := s.write(ctx, func(tx pgx.Tx) error { return applyMigration(ctx, tx, i+1, string(text)) }); err != nil {
			return fmt.Errorf("migrate to %s: %w", file, err)
		}
	}
	return nil
}

// version returns the number of the database's last migration.
func (s *Store) version(ctx context.Context) (version int, err error) {
	var exists bool
	if err := s.pool.QueryRow(ctx, `SELECT to_regclass('hearken_migration') IS NOT NULL`).Scan(&exists); err != nil || !exists {
		return 0, err
	}
	err = s.pool.QueryRow(ctx, `SELECT coalesce(max(version), 0) FROM hearken_migration`).Scan(&version)
	return version, err
}

func applyMigration(ctx context.Context, tx pgx.Tx, version int, text string) error {
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, migrationLock); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `CREATE TABLE IF NOT EXISTS hearken_migration (
		version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())`); err != nil {
		return err
	}
	// Another hub may have done it meanwhile.
	done, err := tx.Exec(ctx, `INSERT INTO hearken_migration (version) VALUES ($1) ON CONFLICT DO NOTHING`, version)
	if err != nil || done.RowsAffected() == 0 {
		return err
	}
	_, err = tx.Exec(ctx, text)
	return err
}
