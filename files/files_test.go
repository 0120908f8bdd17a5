package files

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state.json")
	for _, text := range []string{"first", "second and longer", ""} {
		if err := Replace(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != text {
			t.Errorf("the file holds %q, want %q", got, text)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("permissions %v, want 0600", info.Mode().Perm())
	}
	onlyFile(t, dir, "state.json")
}

func TestReplace_Fails(t *testing.T) {
	dir := t.TempDir()
	// A directory that is not empty cannot be replaced by a file.
	target := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(target, "inside"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Replace(target, []byte("x"), 0o600); err == nil {
		t.Fatal("a directory was replaced")
	}
	onlyFile(t, dir, "taken")
	if err := Replace(filepath.Join(dir, "missing", "file"), nil, 0o600); err == nil {
		t.Error("a file was written into a directory that does not exist")
	}
}

func onlyFile(t *testing.T, dir, name string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 || entries[0].Name() != name {
		t.Errorf("the directory holds %v, want only %s", entries, name)
	}
}

func TestTryLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	first, second := open(), open()
	if ok, err := TryLock(first); !ok || err != nil {
		t.Fatalf("a free lock: %t, %v", ok, err)
	}
	if ok, err := TryLock(second); ok || err != nil {
		t.Fatalf("a lock that is held: %t, %v", ok, err)
	}
	first.Close()
	if ok, err := TryLock(second); !ok || err != nil {
		t.Fatalf("a lock whose holder closed it: %t, %v", ok, err)
	}
}

func TestInside(t *testing.T) {
	for _, tt := range []struct {
		path, rel string
		inside    bool
	}{
		{"/data", ".", true},
		{"/data/", ".", true},
		{"/data/a/b", "a/b", true},
		{"/data/..x", "..x", true},
		{"/data/a/../b", "b", true},
		{"/", "..", false},
		{"/database", "../database", false},
		{"/data/../other", "../other", false},
		{"data", "", false}, // nobody knows where it is
	} {
		rel, inside := Inside("/data", filepath.FromSlash(tt.path))
		if filepath.ToSlash(rel) != tt.rel || inside != tt.inside {
			t.Errorf("%s: %q, %t", tt.path, rel, inside)
		}
	}
}
