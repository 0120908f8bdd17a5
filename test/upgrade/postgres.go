package upgrade

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// ErrNoPostgres says that PostgreSQL is not installed.
var ErrNoPostgres = errors.New("PostgreSQL is not installed")

// A Postgres is a PostgreSQL server.
type Postgres struct {
	URL    string
	script string
	dir    string // of a server that was started here; else empty
}

// StartPostgres finds a server: the one that HEARKEN_TEST_POSTGRES names, or a
// new one. Root is the root of the repository.
func StartPostgres(root string) (*Postgres, error) {
	if server := os.Getenv("HEARKEN_TEST_POSTGRES"); server != "" {
		return &Postgres{URL: server}, nil
	}
	dir, err := os.MkdirTemp("", "hearken-upgrade-postgres-")
	if err != nil {
		return nil, err
	}
	s := &Postgres{dir: dir, script: filepath.Join(root, "scripts", "postgres")}
	if err := os.Chmod(dir, 0o755); err != nil { // another user runs the server if this is root
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	var stderr bytes.Buffer
	start := exec.Command(s.script, "start", dir, strconv.Itoa(os.Getpid()))
	start.Stderr = &stderr
	out, err := start.Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 3 {
			err = ErrNoPostgres
		}
		return nil, errors.Join(fmt.Errorf("start PostgreSQL: %w: %s", err, &stderr), s.Close())
	}
	s.URL = strings.TrimSpace(string(out))
	return s, nil
}

// Close ends a server that was started here.
func (s *Postgres) Close() error {
	if s.dir == "" {
		return nil
	}
	out, err := exec.Command(s.script, "stop", s.dir).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("stop PostgreSQL: %w: %s", err, out)
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}

// Create makes an empty database. It returns its URL, and a function that
// removes it.
func (s *Postgres) Create(ctx context.Context) (address string, drop func() error, err error) {
	name := "upgrade_" + strings.ToLower(rand.Text())
	// From template0, which nobody else is connected to.
	if err := execute(ctx, s.URL, "CREATE DATABASE "+name+" TEMPLATE template0"); err != nil {
		return "", nil, err
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return "", nil, err
	}
	u.Path = "/" + name
	return u.String(), func() error {
		return execute(context.WithoutCancel(ctx), s.URL, "DROP DATABASE "+name+" WITH (FORCE)")
	}, nil
}

// Restore runs the statements of a dump.
func Restore(ctx context.Context, address, dump string) error {
	text, err := os.ReadFile(dump)
	if err != nil {
		return err
	}
	return execute(ctx, address, string(text))
}

func execute(ctx context.Context, address, text string) error {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	_, err = conn.PgConn().Exec(ctx, text).ReadAll()
	return errors.Join(err, conn.Close(context.WithoutCancel(ctx)))
}
