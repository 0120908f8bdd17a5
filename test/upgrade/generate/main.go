// Command generate writes a fixture for the upgrade tests: the data directories
// that the program of today leaves behind, one for each kind of store, and what
// the same program shows of them. Run it at the root of the repository when a
// version is released:
//
//	go build -o bin/hearken ./cmd/hearken
//	go run ./test/upgrade/generate -out test/upgrade/testdata/VERSION
//
// It uses the program as people and agents do, by its commands and tools.
// Stand-ins on this computer take the part of the speech engine, the mail
// server, the webhook and ParrotScribe. It needs PostgreSQL's programs and runs
// for about three minutes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"time"

	"github.com/hearken-dev/hearken/test/upgrade"
)

func main() {
	out := flag.String("out", "", "directory to write, named after the version")
	bin := flag.String("bin", "bin/hearken", "the program")
	// The program stores the path of its data directory, so this one must say
	// nothing about whoever runs it.
	work := flag.String("work", filepath.Join(os.TempDir(), "hearken-upgrade"), "directory to work in, which must not exist")
	flag.Parse()
	if err := run(*bin, *work, *out); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(bin, work, out string) error {
	if out == "" {
		return errors.New("-out is required")
	}
	bin, err := filepath.Abs(bin)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 15*time.Minute)
	defer cancel()
	server, err := upgrade.StartPostgres(".")
	if err != nil {
		return err
	}
	err = generateAll(ctx, server, bin, work, out)
	return errors.Join(err, server.Close())
}

func generateAll(ctx context.Context, server *upgrade.Postgres, bin, work, out string) error {
	var names []string
	for name := range upgrade.Stores {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintln(os.Stderr, "writing", name)
		if err := generate(ctx, server, bin, work, filepath.Join(out, name), upgrade.Stores[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return checkAnonymous(out)
}

// generate writes the fixture of one kind of store.
func generate(ctx context.Context, server *upgrade.Postgres, bin, work, out, backend string) (err error) {
	if err := os.Mkdir(work, 0o700); err != nil {
		return err
	}
	defer os.RemoveAll(work)
	fixture := upgrade.Fixture(out)
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	env := []string{"STORAGE_BACKEND=" + backend}
	database := ""
	if backend == "postgres" {
		var drop func() error
		if database, drop, err = server.Create(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, drop()) }()
		env = append(env, "DATABASE_URL="+database)
	}
	h, err := newHub(bin, work, env)
	if err != nil {
		return err
	}
	expected, err := play(ctx, h)
	if err != nil {
		return err
	}
	if err := os.CopyFS(fixture.Data(), os.DirFS(h.Dir)); err != nil {
		return err
	}
	if database != "" {
		if err := dump(ctx, database, fixture.Dump()); err != nil {
			return err
		}
	}
	return recordExpected(ctx, h, fixture, expected)
}
