package sqlite_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store/sqlite"
)

func TestOpenExisting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hearken.db")
	k := newTalk(1)
	s := open(t, path)
	saveTalk(t, s, k, k.say(3))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.OpenExisting(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got, err := s.Segments(t.Context(), k.session.ID, 1, 10, true); err != nil || len(got) != 3 {
		t.Errorf("got %d segments, %v", len(got), err)
	}
}

// A database that is not there is not created, and nothing beside it is touched.
func TestOpenExisting_Lost(t *testing.T) {
	for name, tt := range map[string]struct {
		files map[string]string // by suffix
		says  string
		log   bool // Open fails as well
	}{
		"Missing":        {nil, "hearken.db is missing.", false},
		"Empty":          {map[string]string{"": ""}, "hearken.db is empty.", false},
		"MissingWithLog": {map[string]string{"-wal": "x"}, "hearken.db-wal, which holds its last changes, is still there.", true},
		"EmptyWithLog":   {map[string]string{"": "", "-wal": "x"}, "hearken.db is empty, but", true},
		"OldLog":         {map[string]string{"-journal": "x"}, "hearken.db-journal, which holds", true},
		"BeingCreated":   {map[string]string{"": "", "-journal": ""}, "hearken.db is empty.", false},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "hearken.db")
			for suffix, text := range tt.files {
				if err := os.WriteFile(path+suffix, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			check := func(open string, err error) {
				t.Helper()
				if hearken.CodeOf(err) != hearken.NotFound || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("%s: %v", open, err)
				}
				for _, suffix := range []string{"", "-wal", "-journal", "-shm"} {
					text, err := os.ReadFile(path + suffix)
					if want, there := tt.files[suffix]; (err == nil) != there || string(text) != want {
						t.Errorf("%s: hearken.db%s holds %q, %v", open, suffix, text, err)
					}
				}
			}
			_, err := sqlite.OpenExisting(t.Context(), path)
			check("OpenExisting", err)
			if tt.log {
				_, err := sqlite.Open(t.Context(), path)
				check("Open", err)
			}
			kept, err := sqlite.SetAside(path, time.Unix(0, 0))
			if err != nil || len(kept) != len(tt.files) {
				t.Errorf("set aside %q, %v", kept, err)
			}
			open(t, path)
		})
	}
}

// A database without a single table is as good as none.
func TestOpenExisting_NoTables(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hearken.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`CREATE TABLE t (a); DROP TABLE t`); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.OpenExisting(t.Context(), path); hearken.CodeOf(err) != hearken.NotFound || !strings.Contains(err.Error(), "is empty") {
		t.Errorf("got %v", err)
	}
	open(t, path)
}
