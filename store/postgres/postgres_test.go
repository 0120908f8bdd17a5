package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store/postgres"
	"github.com/hearken-dev/hearken/store/storetest"
)

// server is the URL of the server that the tests use, or why there is none.
var server, missing string

// TestMain finds a server: the one that HEARKEN_TEST_POSTGRES names, or one
// that it starts and stops.
func TestMain(m *testing.M) {
	if server = os.Getenv("HEARKEN_TEST_POSTGRES"); server != "" {
		os.Exit(m.Run())
	}
	dir, err := os.MkdirTemp("", "hearken-postgres-")
	if err == nil {
		err = os.Chmod(dir, 0o755) // another user runs the server if this is root
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	script := filepath.Join("..", "..", "scripts", "postgres")
	start := exec.Command(script, "start", dir, strconv.Itoa(os.Getpid()))
	var said bytes.Buffer
	start.Stderr = &said
	out, err := start.Output()
	server = strings.TrimSpace(string(out))
	code := 1
	switch exit, ok := errors.AsType[*exec.ExitError](err); {
	case err == nil:
		code = m.Run()
	case ok && exit.ExitCode() == 3: // not installed
		missing = strings.TrimSpace(said.String())
		code = m.Run()
	default:
		fmt.Fprintf(os.Stderr, "start PostgreSQL: %v\n%s", err, &said)
	}
	if out, err := exec.Command(script, "stop", dir).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "stop PostgreSQL: %v\n%s", err, out)
		code = 1
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

var schemas atomic.Int64

// schema creates an empty schema and returns its URL.
func schema(t testing.TB) string {
	t.Helper()
	if missing != "" {
		t.Skip(missing)
	}
	name := fmt.Sprintf("test_%d_%d", os.Getpid(), schemas.Add(1))
	admin(t, `CREATE SCHEMA `+name)
	t.Cleanup(func() { admin(t, `DROP SCHEMA `+name+` CASCADE`) })
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	return u.String()
}

func admin(t testing.TB, query string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, query); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, url string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) hearken.Store { return open(t, schema(t)) })
}

// Many hubs may start at once on an empty database.
func TestOpen_Together(t *testing.T) {
	url := schema(t)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			s, err := postgres.Open(t.Context(), url)
			if err != nil {
				t.Error(err)
				return
			}
			s.Close()
		})
	}
	all.Wait()
	s := open(t, url)
	if _, err := s.Sessions(t.Context(), hearken.SessionFilter{}); err != nil {
		t.Error(err)
	}
}

func TestOpen_Unusable(t *testing.T) {
	newer := schema(t)
	open(t, newer).Close()
	u, err := url.Parse(newer)
	if err != nil {
		t.Fatal(err)
	}
	admin(t, `INSERT INTO `+u.Query().Get("search_path")+`.hearken_migration (version) VALUES (77)`)
	for name, tt := range map[string]struct {
		url  string
		says []string
	}{
		"Newer":   {newer, []string{"version 77", "up to 5", "Try: "}},
		"Refused": {"postgres://u:hunter2@127.0.0.1:1/x?connect_timeout=2", []string{"cannot be used", "Try: "}},
		"NoURL":   {"postgres://u:hunter2@[bad", []string{"cannot be used"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := postgres.Open(t.Context(), tt.url)
			if err == nil {
				s.Close()
				t.Fatal("opened")
			}
			storetest.WantRepositoryError(t, err, tt.says...)
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the password is in %q", err)
			}
		})
	}
}

// An ordinary user who owns nothing but a schema can use it.
func TestOpen_OrdinaryUser(t *testing.T) {
	address := schema(t)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	name := u.Query().Get("search_path")
	admin(t, `CREATE ROLE `+name+` LOGIN PASSWORD 'x'; GRANT ALL ON SCHEMA `+name+` TO `+name)
	t.Cleanup(func() { admin(t, `DROP OWNED BY `+name+`; DROP ROLE `+name) })
	u.User = url.UserPassword(name, "x")
	s := open(t, u.String())
	session := &hearken.Session{ID: "00000001-0000-4000-8000-000000000000", StartedAt: time.Unix(1, 0)}
	g := hearken.Segment{Line: 1, Origin: hearken.Microphone, Status: hearken.Confirmed, Text: "apple"}
	if err := s.Save(t.Context(), session, []hearken.Segment{g}); err != nil {
		t.Fatal(err)
	}
	if hits, err := s.Search(t.Context(), hearken.Query{Text: "apple"}); err != nil || len(hits) != 1 {
		t.Errorf("%v, %v", hits, err)
	}
}

func TestOpenExisting(t *testing.T) {
	url := schema(t)
	lost := func() {
		t.Helper()
		_, err := postgres.OpenExisting(t.Context(), url)
		if hearken.CodeOf(err) != hearken.NotFound || !strings.Contains(err.Error(), "has no tables of Hearken") {
			t.Errorf("got %v", err)
		}
	}
	lost()
	lost() // the first attempt created none
	open(t, url).Close()
	s, err := postgres.OpenExisting(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
}
