package sqlite_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store/sqlite"
	"github.com/hearken-dev/hearken/store/storetest"
)

func TestOpen_Again(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new folder", "100% of # & ?.db")
	first := open(t, path)
	k := newTalk(1)
	saveTalk(t, first, k, k.say(3))
	second := open(t, path) // beside the first, as a command line beside a hub
	got, err := second.Segments(t.Context(), k.session.ID, 1, 10, true)
	if err != nil || len(got) != 3 {
		t.Fatalf("got %d segments, %v", len(got), err)
	}
	saveTalk(t, second, k, k.say(2))
	if got, err = first.Segments(t.Context(), k.session.ID, 1, 10, true); err != nil || len(got) != 5 {
		t.Fatalf("got %d segments, %v", len(got), err)
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	if err != nil || len(files) < 3 {
		t.Fatalf("files %v, %v", files, err)
	}
	for _, file := range files {
		if !strings.HasPrefix(file, path) {
			t.Errorf("an odd file %s", file)
		}
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", file, info.Mode())
		}
	}
}

// Many processes may create the same database at once.
func TestOpen_Together(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hearken.db")
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			s, err := sqlite.Open(t.Context(), path)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			k := newTalk(n)
			for range 5 {
				if err := s.Save(t.Context(), k.session, k.say(1)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	list, err := open(t, path).Sessions(t.Context(), hearken.SessionFilter{})
	if err != nil || len(list) != 8 {
		t.Errorf("%d sessions, %v", len(list), err)
	}
}

func TestOpen_Unusable(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	exec := func(name, query string) string {
		path := filepath.Join(dir, name)
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec(query); err != nil {
			t.Fatal(err)
		}
		return path
	}
	newer := filepath.Join(dir, "newer.db")
	open(t, newer).Close()
	exec("newer.db", `PRAGMA user_version = 1234`)
	for name, tt := range map[string]struct {
		path string
		says []string
	}{
		"Newer":     {newer, []string{newer, "1234", "up to 5", "Try: "}},
		"Foreign":   {exec("foreign.db", `CREATE TABLE t (a)`), []string{"foreign.db", "another program"}},
		"Text":      {write("text.db", strings.Repeat("no database\n", 1000)), []string{"text.db", "Try: "}},
		"Folder":    {dir, []string{dir, "not a file"}},
		"UnderFile": {filepath.Join(write("file", ""), "x.db"), []string{"x.db", "Try: "}},
		"Gone":      {"/dev/null/x/y.db", []string{"y.db"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := sqlite.Open(t.Context(), tt.path)
			if err == nil {
				s.Close()
				t.Fatal("opened")
			}
			storetest.WantRepositoryError(t, err, tt.says...)
		})
	}
}

// While another process reads, the log cannot be truncated. The error says so,
// and the next Open truncates it.
func TestStore_Delete_LogInUse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "hearken.db")
	s := open(t, path)
	k := newTalk(1)
	saveTalk(t, s, k, k.say(5))
	release := startReading(t, path)
	sqlite.SetBusyTimeout(t, s, time.Millisecond)
	if err := s.Delete(t.Context(), k.session.ID); hearken.CodeOf(err) != hearken.Busy {
		t.Fatalf("deleted with error %v", err)
	}
	if traces(t, dir, k.mark) == 0 {
		t.Fatal("the reader did not matter")
	}
	release()
	open(t, path)
	if left := traces(t, dir, k.mark); left > 0 {
		t.Errorf("%d traces after opening again", left)
	}
}

// startReading begins a transaction that reads the database, as another process
// does. It lasts until release is called.
func startReading(t *testing.T, path string) (release func()) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRow(`SELECT count(*) FROM session`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	}
}
