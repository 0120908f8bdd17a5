//go:build unix

package pipe

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/files"
)

// TestAcquire_LockFileTampered: whatever becomes of the lock file, a directory
// with a hub takes no second one.
func TestAcquire_LockFileTampered(t *testing.T) {
	for name, tamper := range map[string]func(path string) error{
		"Removed": os.Remove,
		"Renamed": func(path string) error { return os.Rename(path, path+".old") },
		"Replaced": func(path string) error {
			if err := os.WriteFile(path+".new", nil, 0o600); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		},
		"Linked": func(path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.Symlink(filepath.Join(t.TempDir(), "elsewhere"), path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			lock, err := Acquire(dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := tamper(filepath.Join(dir, lockName)); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the first attempt must not make way for the second
				if _, err := Acquire(dir); !errors.Is(err, ErrHeld) || hearken.CodeOf(err) != hearken.Busy {
					t.Fatalf("a second hub: %v", err)
				}
			}
			if err := lock.Release(); err != nil {
				t.Fatal(err)
			}
			next, err := Acquire(dir)
			if err != nil {
				t.Fatalf("after the first has ended: %v", err)
			}
			next.Release()
		})
	}
}

// fileOnly takes the lock as versions did that knew only the file.
func fileOnly(t *testing.T, dir string) (f *os.File, locked bool) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if locked, err = files.TryLock(f); err != nil {
		t.Fatal(err)
	}
	return f, locked
}

func TestAcquire_OlderVersion(t *testing.T) {
	dir := t.TempDir()
	older, _ := fileOnly(t, dir)
	if _, err := Acquire(dir); !errors.Is(err, ErrHeld) {
		t.Errorf("beside an older hub: %v", err)
	}
	older.Close()
	lock, err := Acquire(dir) // the attempt before left nothing locked
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	if _, locked := fileOnly(t, dir); locked {
		t.Error("an older hub starts beside this one")
	}
}

// TestAcquire_FileReplacedMeanwhile: a lock on a file that is no longer there
// counts for nothing.
func TestAcquire_FileReplacedMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), lockName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !isAt(f, path) {
		t.Error("a file is not where it was made")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if isAt(f, path) {
		t.Error("a removed file is still there")
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if isAt(f, path) {
		t.Error("another file passes for it")
	}
}
