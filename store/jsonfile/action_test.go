package jsonfile_test

import (
	"bytes"
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

func TestStore_Durable(t *testing.T) {
	dir := t.TempDir()
	storetest.Durable(t, func() hearken.Store { return open(t, dir) })
}

func TestReadAuditHeads(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	storetest.ReadsAuditHeads(t, func() hearken.Store { return open(t, dir) },
		func() ([]hearken.AuditHead, error) { return jsonfile.ReadAuditHeads(t.Context(), dir) })
}

// everything is the content and the names of all files in a folder.
func everything(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all.WriteString(path + "\n" + string(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func TestStore_ForgetActions_LeavesNoByte(t *testing.T) {
	dir := t.TempDir()
	storetest.LeavesNoByte(t, open(t, dir), func() string { return everything(t, dir) })
}

func TestStore_ForgetInActions_LeavesNoByte(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	torn := filepath.Join(dir, "actions", "msg_zzzzzzzzzzzzzzzz.json.tmp") // a crash left it
	if err := os.WriteFile(torn, []byte(`{"quote": "qz000zq`), 0o600); err != nil {
		t.Fatal(err)
	}
	storetest.ForgetsQuotes(t, s, func() string { return everything(t, dir) })
}

// Temporary files that a crash left are removed as well.
func TestStore_ForgetActions_Torn(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	for _, folder := range []string{"actions", "alarms"} {
		torn := filepath.Join(dir, folder, "msg_aaaaaaaaaaaaaaaa.json.tmp")
		if err := os.WriteFile(torn, []byte(`{"text": "secret`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := s.Actions(t.Context(), hearken.ActionFilter{}); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := s.ForgetActions(t.Context(), time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(everything(t, dir), "secret") {
		t.Error("it is still there")
	}
}

// A second reader sees each change and each deletion.
func TestStore_Actions_Beside(t *testing.T) {
	dir := t.TempDir()
	writer, reader := open(t, dir), open(t, dir)
	ended := time.Unix(1_800_000_000, 0)
	a := &hearken.Action{ID: "msg_aaaaaaaaaaaaaaaa", EndedAt: &ended}
	for _, state := range []hearken.ActionState{"one", "two", "six", "ten"} { // of the same length
		a.State = state
		if saved, err := writer.SaveAction(t.Context(), a); err != nil || !saved {
			t.Fatalf("%t, %v", saved, err)
		}
		for _, s := range []*jsonfile.Store{writer, reader, reader} {
			list, err := s.Actions(t.Context(), hearken.ActionFilter{States: []hearken.ActionState{state}})
			if err != nil || len(list) != 1 || list[0].State != state {
				t.Errorf("in state %s: %v, %v", state, list, err)
			}
		}
	}
	if n, err := writer.ForgetActions(t.Context(), ended.Add(1)); err != nil || n != 1 {
		t.Fatalf("%d forgotten, %v", n, err)
	}
	if list, err := reader.Actions(t.Context(), hearken.ActionFilter{}); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
}

// The error names a damaged action, which cannot be overwritten. All others
// still work.
func TestStore_Action_Damaged(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	var log bytes.Buffer
	s.Log = slog.New(slog.NewTextHandler(&log, nil))
	for _, id := range []string{"msg_aaaaaaaaaaaaaaaa", "msg_bbbbbbbbbbbbbbbb"} {
		if saved, err := s.SaveAction(t.Context(), &hearken.Action{ID: id}); err != nil || !saved {
			t.Fatalf("%t, %v", saved, err)
		}
	}
	path := filepath.Join(dir, "actions", "msg_aaaaaaaaaaaaaaaa.json")
	if err := os.WriteFile(path, []byte(`{"id": "msg_a`), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := s.Actions(t.Context(), hearken.ActionFilter{})
	if err != nil || len(list) != 1 || !strings.Contains(log.String(), "msg_aaaa") {
		t.Errorf("%d actions, %v, log %s", len(list), err, &log)
	}
	_, err = s.Action(t.Context(), "msg_aaaaaaaaaaaaaaaa")
	storetest.WantRepositoryError(t, err, path, "remove it")
	saved, err := s.SaveAction(t.Context(), &hearken.Action{ID: "msg_aaaaaaaaaaaaaaaa"})
	storetest.WantRepositoryError(t, err, path)
	if saved {
		t.Error("saved over it")
	}
}

// A folder from before there were actions is migrated.
func TestOpen_Older(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir)
	save(t, first, 1, said(1, "one"))
	first.Close()
	for _, folder := range []string{"actions", "alarms", "grants", "contacts"} {
		if err := os.Remove(filepath.Join(dir, folder)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second time as after a crash, when owner.json exists
		for name, text := range map[string]string{
			"format.json": `{"version": 1}`,
			"keys.json": `[{"id": "key_1", "name": "Laptop", "createdAt": "2026-01-01T00:00:00Z", "hash": "AQ=="},
				{"id": "owner", "name": "MARK /data", "createdAt": "2026-01-01T00:00:00Z", "hash": "MQ==", "revokedAt": "2026-01-01T00:00:00Z"}]`,
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		open(t, dir).Close()
	}
	storetest.Migrated(t, open(t, dir))
	if got := texts(t, open(t, dir), 1); got != "one" {
		t.Error(got)
	}
}

func BenchmarkActions(b *testing.B) { storetest.BenchmarkActions(b, open(b, b.TempDir())) }

func BenchmarkForgetInActions(b *testing.B) {
	storetest.BenchmarkForgetInActions(b, open(b, b.TempDir()))
}
