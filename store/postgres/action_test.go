package postgres_test

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store/postgres"
	"github.com/hearken-dev/hearken/store/storetest"
)

func TestStore_Durable(t *testing.T) {
	url := schema(t)
	storetest.Durable(t, func() hearken.Store { return open(t, url) })
}

func TestReadAuditHeads(t *testing.T) {
	url := schema(t)
	storetest.ReadsAuditHeads(t, func() hearken.Store { return open(t, url) },
		func() ([]hearken.AuditHead, error) { return postgres.ReadAuditHeads(t.Context(), url) })
}

func TestStore_OneWriterWins_Hubs(t *testing.T) {
	url := schema(t)
	storetest.OneWriterWins(t, open(t, url), open(t, url), open(t, url))
}

// connect opens another connection.
func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

// The server decides when it overwrites the bytes in its files, so this looks at
// the rows of all tables.
func TestStore_ForgetActions_LeavesNoRow(t *testing.T) {
	url := schema(t)
	s, conn := open(t, url), connect(t, url)
	storetest.LeavesNoByte(t, s, func() string {
		var all string
		err := conn.QueryRow(t.Context(), `SELECT schema_to_xml(current_schema(), false, true, '')::text`).Scan(&all)
		if err != nil {
			t.Fatal(err)
		}
		return all
	})
}

// Even if the server's default is to answer before it has synced, an action is
// on its disk when SaveAction returns.
func TestStore_SaveAction_Synced(t *testing.T) {
	address := schema(t)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ server, want string }{{"off", "on"}, {"local", "local"}, {"on", "on"}} {
		q := u.Query()
		q.Set("synchronous_commit", tt.server)
		u.RawQuery = q.Encode()
		s, conn := open(t, u.String()), connect(t, address)
		if _, err := conn.Exec(t.Context(), `
			CREATE TABLE seen (setting text);
			CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$
				BEGIN INSERT INTO seen VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$;
			CREATE CONSTRAINT TRIGGER see AFTER INSERT OR UPDATE ON hearken_action
				DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION see()`); err != nil {
			t.Fatal(err)
		}
		a := &hearken.Action{ID: hearken.NewActionID(hearken.MessageSend)}
		for range 2 {
			if saved, err := s.SaveAction(t.Context(), a); err != nil || !saved {
				t.Fatalf("%t, %v", saved, err)
			}
		}
		var seen []string
		if err := conn.QueryRow(t.Context(), `SELECT array_agg(setting) FROM seen`).Scan(&seen); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(seen, " "); got != tt.want+" "+tt.want {
			t.Errorf("a server that is set to %s commits with %s, want %s", tt.server, got, tt.want)
		}
		if _, err := conn.Exec(t.Context(), `DROP FUNCTION see CASCADE; DROP TABLE seen`); err != nil {
			t.Fatal(err)
		}
	}
}

// A database from before there were actions is migrated.
func TestOpen_Older(t *testing.T) {
	url := schema(t)
	tables, err := os.ReadFile(filepath.Join("sql", "0001_sessions.sql"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = connect(t, url).Exec(t.Context(), string(tables)+`;
		CREATE TABLE hearken_migration (version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now());
		INSERT INTO hearken_migration (version) VALUES (1);
		INSERT INTO hearken_key VALUES ('key_1', 'Laptop', '1', now(), NULL, 'null'),
			('owner', 'MARK /data', '1', '2026-01-01T00:00:00Z', now(), 'null');
		INSERT INTO hearken_session (id, title, status, stop_reason, language, provider, started_at, duration,
			segment_count, epoch, principal, config)
		VALUES ('00000001-0000-4000-8000-000000000000', 'Old', 'stopped', '', '', '', now(), 0, 0, 1, '', '{}')`)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, url)
	storetest.Migrated(t, s)
	if list, err := s.Sessions(t.Context(), hearken.SessionFilter{}); err != nil || len(list) != 1 || list[0].Title != "Old" {
		t.Errorf("%v, %v", list, err)
	}
}

// HEARKEN_TEST_POSTGRES should name a server that syncs: the one that the tests
// start does not.
func BenchmarkActions(b *testing.B) {
	storetest.BenchmarkActions(b, open(b, schema(b)))
}
