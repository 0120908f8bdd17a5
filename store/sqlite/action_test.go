package sqlite_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store/sqlite"
	"github.com/hearken-dev/hearken/store/storetest"
)

func TestStore_Durable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hearken.db")
	storetest.Durable(t, func() hearken.Store { return open(t, path) })
}

func TestReadAuditHeads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hearken.db")
	storetest.ReadsAuditHeads(t, func() hearken.Store { return open(t, path) },
		func() ([]hearken.AuditHead, error) { return sqlite.ReadAuditHeads(t.Context(), path) })
}

// Each commit is synced, so a stored state survives a power cut.
func TestStore_SaveAction_Synced(t *testing.T) {
	const full = 2
	s := open(t, filepath.Join(t.TempDir(), "hearken.db"))
	if got := sqlite.Synchronous(t, s); got != full {
		t.Errorf("synchronous is %d, want %d", got, full)
	}
}

// Several processes may write, such as a command beside a hub.
func TestStore_OneWriterWins_Processes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hearken.db")
	storetest.OneWriterWins(t, open(t, path), open(t, path), open(t, path))
}

func TestStore_ForgetActions_LeavesNoByte(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "hearken.db")
	storetest.LeavesNoByte(t, open(t, path), func() string { return string(bytesOf(t, dir)) })
	wantIntact(t, path)
}

func TestStore_ForgetInActions_LeavesNoByte(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "hearken.db")
	storetest.ForgetsQuotes(t, open(t, path), func() string { return string(bytesOf(t, dir)) })
	wantIntact(t, path)
}

// A call that could not truncate the log is completed by the next one, which
// finds nothing more to change.
func TestStore_ForgetInActions_LogInUse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "hearken.db")
	s := open(t, path)
	a := &hearken.Action{ID: "msg_aaaaaaaaaaaaaaaa", Evidence: []hearken.Evidence{{Quote: "qzsecretzq"}}}
	if saved, err := s.SaveAction(t.Context(), a); err != nil || !saved {
		t.Fatalf("%t, %v", saved, err)
	}
	release := startReading(t, path)
	sqlite.SetBusyTimeout(t, s, time.Millisecond)
	if n, err := s.ForgetInActions(t.Context(), "", storetest.ForgetQuotes("")); n != 1 || hearken.CodeOf(err) != hearken.Busy {
		t.Fatalf("%d changed with error %v", n, err)
	}
	release()
	if traces(t, dir, "qzsecretzq") == 0 {
		t.Fatal("the reader did not matter")
	}
	if n, err := s.ForgetInActions(t.Context(), "", storetest.ForgetQuotes("")); n != 0 || err != nil {
		t.Fatalf("%d changed with error %v", n, err)
	}
	if left := traces(t, dir, "qzsecretzq"); left > 0 {
		t.Errorf("%d traces", left)
	}
}

// While another process reads, the log cannot be truncated. The error says so,
// and the next call truncates it.
func TestStore_ForgetActions_LogInUse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "hearken.db")
	s := open(t, path)
	ended := time.Unix(1_800_000_000, 0)
	a := &hearken.Action{ID: "msg_aaaaaaaaaaaaaaaa", State: hearken.ActionDone, EndedAt: &ended, Error: "qzsecretzq"}
	if saved, err := s.SaveAction(t.Context(), a); err != nil || !saved {
		t.Fatalf("%t, %v", saved, err)
	}
	release := startReading(t, path)
	sqlite.SetBusyTimeout(t, s, time.Millisecond)
	if n, err := s.ForgetActions(t.Context(), ended.Add(1)); n != 1 || hearken.CodeOf(err) != hearken.Busy {
		t.Fatalf("%d forgotten with error %v", n, err)
	}
	release()
	if traces(t, dir, "qzsecretzq") == 0 {
		t.Fatal("the reader did not matter")
	}
	if n, err := s.ForgetActions(t.Context(), ended.Add(1)); n != 0 || err != nil {
		t.Fatalf("%d forgotten with error %v", n, err)
	}
	if left := traces(t, dir, "qzsecretzq"); left > 0 {
		t.Errorf("%d traces", left)
	}
}

// A database from before there were actions is migrated.
func TestOpen_Older(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hearken.db")
	schema, err := os.ReadFile(filepath.Join("sql", "0001_sessions.sql"))
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, query := range []string{
		`PRAGMA journal_mode = wal`, string(schema), `PRAGMA user_version = 1`,
		`INSERT INTO key VALUES ('key_1', 'Laptop', x'01', 1, NULL, 'null'),
			('owner', 'MARK /data', x'31', 1767225600000000, 1, 'null')`,
		`INSERT INTO session (id, title, status, stop_reason, language, provider, started_at, duration, segment_count, epoch, principal, config)
			VALUES ('00000001-0000-4000-8000-000000000000', 'Old', 'stopped', '', '', '', 1, 0, 0, 1, '', '{}')`,
	} {
		if _, err := db.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	storetest.Migrated(t, s)
	if list, err := s.Sessions(t.Context(), hearken.SessionFilter{}); err != nil || len(list) != 1 || list[0].Title != "Old" {
		t.Errorf("%v, %v", list, err)
	}
}

func BenchmarkActions(b *testing.B) {
	storetest.BenchmarkActions(b, open(b, filepath.Join(b.TempDir(), "hearken.db")))
}

func BenchmarkForgetInActions(b *testing.B) {
	storetest.BenchmarkForgetInActions(b, open(b, filepath.Join(b.TempDir(), "hearken.db")))
}
