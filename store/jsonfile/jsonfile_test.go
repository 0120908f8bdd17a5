package jsonfile_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store/jsonfile"
	"github.com/hearken-dev/hearken/store/storetest"
)

func open(t testing.TB, dir string) *jsonfile.Store {
	t.Helper()
	s, err := jsonfile.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) hearken.Store { return open(t, t.TempDir()) })
}

func id(n int) string { return fmt.Sprintf("%08d-0000-4000-8000-000000000000", n) }

func session(n int) *hearken.Session {
	return &hearken.Session{ID: id(n), Status: hearken.Active, StartedAt: time.Unix(1_800_000_000+int64(n), 0).UTC()}
}

func said(line int, text string) hearken.Segment {
	return hearken.Segment{
		Line: line, Origin: hearken.Microphone, Status: hearken.Confirmed, Text: text, StartTime: float64(line), EndTime: float64(line) + 0.5,
	}
}

func save(t *testing.T, s *jsonfile.Store, n int, segments ...hearken.Segment) {
	t.Helper()
	if err := s.Save(t.Context(), session(n), segments); err != nil {
		t.Fatal(err)
	}
}

func texts(t *testing.T, s *jsonfile.Store, n int) string {
	t.Helper()
	got, err := s.Segments(t.Context(), id(n), 1, 100, false)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, g := range got {
		all = append(all, g.Text)
	}
	return strings.Join(all, " ")
}

// Wherever a write was cut off, the same Save completes it.
func TestStore_Save_Torn(t *testing.T) {
	whole := t.TempDir()
	s := open(t, whole)
	save(t, s, 1, said(1, "one"), said(2, "two"))
	data, err := os.ReadFile(filepath.Join(whole, "sessions", id(1), "segments.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(data); n += 9 {
		dir := t.TempDir()
		folder := filepath.Join(dir, "sessions", id(1))
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "segments.jsonl"), data[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "session.json.tmp"), data[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, dir)
		if list, err := s.Sessions(t.Context(), hearken.SessionFilter{}); err != nil || len(list) != 0 {
			t.Fatalf("cut at %d: sessions %v, %v", n, list, err)
		}
		save(t, s, 1, said(1, "one"), said(2, "two"))
		save(t, s, 1, said(3, "three"))
		if got := texts(t, s, 1); got != "one two three" {
			t.Fatalf("cut at %d: %s", n, got)
		}
	}
}

// The error names a damaged file, and all other sessions still work.
func TestStore_Damaged(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	var log bytes.Buffer
	s.Log = slog.New(slog.NewTextHandler(&log, nil))
	for n := 1; n <= 3; n++ {
		save(t, s, n, said(1, "apple"), said(2, "apple"))
	}
	damage := func(n int, name, text string) string {
		path := filepath.Join(dir, "sessions", id(n), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	first := damage(1, "session.json", `{"id": "`)
	second := damage(2, "segments.jsonl", "{\"line\": 1, \"text\": \"apple\"}\nnonsense apple\n")
	list, err := s.Sessions(t.Context(), hearken.SessionFilter{})
	if err != nil || len(list) != 2 {
		t.Errorf("%d sessions, %v", len(list), err)
	}
	hits, err := s.Search(t.Context(), hearken.Query{Text: "apple"})
	if err != nil || len(hits) != 2 || hits[0].Session != id(3) {
		t.Errorf("hits %v, %v", hits, err)
	}
	_, err = s.Session(t.Context(), id(1))
	storetest.WantRepositoryError(t, err, first)
	_, err = s.Segments(t.Context(), id(2), 1, 10, false)
	storetest.WantRepositoryError(t, err, second, "line 2")
	storetest.WantRepositoryError(t, s.Save(t.Context(), session(2), []hearken.Segment{said(3, "pear")}), second, "line 2")
	save(t, s, 3, said(3, "pear"))
	if got := texts(t, s, 3); got != "apple apple pear" {
		t.Error(got)
	}
	if !strings.Contains(log.String(), id(1)) || !strings.Contains(log.String(), id(2)) {
		t.Errorf("the log does not tell: %s", &log)
	}
	for n := 1; n <= 2; n++ {
		if err := s.Delete(t.Context(), id(n)); err != nil {
			t.Errorf("delete a damaged session: %v", err)
		}
	}
}

func TestStore_LeavesNoByte(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	for n := range 3 {
		save(t, s, n, said(1, "keepsake"), said(2, "secret"), said(3, "secret"))
		if err := s.SaveNote(t.Context(), &hearken.Note{Session: id(n), Text: "secret"}); err != nil {
			t.Fatal(err)
		}
	}
	find := func(text string) (n int) {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			if want := fs.FileMode(0o600); e.Type().IsRegular() && info.Mode().Perm() != want {
				t.Errorf("%s has mode %v", path, info.Mode())
			}
			if e.IsDir() {
				return nil
			}
			data, err := os.ReadFile(path)
			n += bytes.Count(data, []byte(text))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if find("secret") != 9 {
		t.Fatal("the scan finds nothing")
	}
	if err := s.Delete(t.Context(), id(0)); err != nil {
		t.Fatal(err)
	}
	if err := s.Forget(t.Context(), id(1), 1.6, 100); err != nil {
		t.Fatal(err)
	}
	if n := find("secret"); n != 4 {
		t.Errorf("%d traces, want 4", n)
	}
	// The next Open removes the folder of a deletion that a crash interrupted.
	folder := filepath.Join(dir, "sessions", id(2))
	if err := os.Rename(folder, folder+".deleted"); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
	if n := find("secret"); n != 1 {
		t.Errorf("%d traces, want 1", n)
	}
	if n := find("keepsake"); n != 1 {
		t.Errorf("%d kept, want 1", n)
	}
}

func TestOpen_Unusable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	newer := t.TempDir()
	if err := os.WriteFile(filepath.Join(newer, "format.json"), []byte(`{"version": 7}`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := jsonfile.Open(t.Context(), newer)
	storetest.WantRepositoryError(t, err, newer, "version 7", "up to 2")
	for _, dir := range []string{file, filepath.Join(file, "x")} {
		_, err := jsonfile.Open(t.Context(), dir)
		storetest.WantRepositoryError(t, err, dir, "Try: ")
	}
}

func TestOpen_Again(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	first := open(t, dir)
	save(t, first, 1, said(1, "one"))
	second := open(t, dir)
	if got := texts(t, second, 1); got != "one" {
		t.Error(got)
	}
	save(t, first, 1, said(2, "two"))
	if got := texts(t, second, 1); got != "one two" {
		t.Errorf("a reader beside sees %s", got)
	}
}

func TestOpenExisting(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	lost := func(says string) {
		t.Helper()
		if _, err := jsonfile.OpenExisting(t.Context(), dir); hearken.CodeOf(err) != hearken.NotFound || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v", err)
		}
	}
	lost("is missing")
	if _, err := os.Stat(dir); err == nil {
		t.Error("it was created")
	}
	if err := os.MkdirAll(filepath.Join(dir, "sessions"), 0o700); err != nil {
		t.Fatal(err)
	}
	lost("is empty")
	save(t, open(t, dir), 1, said(1, "one"))
	s, err := jsonfile.OpenExisting(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := texts(t, s, 1); got != "one" {
		t.Errorf("got %q", got)
	}
}
