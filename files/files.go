// Package files holds what every part of Hearken that keeps files needs:
// replacing a file as a whole, making names durable, comparing paths, and
// locking.
package files

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// TemporaryPattern matches the names of files that a crash in the middle of
// [Replace] leaves beside the one that it was to replace.
const TemporaryPattern = ".new-*"

// Replace writes data to path so that the file is either the old one or the
// new one, even if the process or the machine stops halfway. Data and name are
// on disk when it returns. A new file gets perm.
func Replace(path string, data []byte, perm os.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), TemporaryPattern)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // the first error is the one that matters
		}
	}()
	_, err = f.Write(data)
	if err == nil && runtime.GOOS != "windows" { // Windows knows only read-only
		err = f.Chmod(perm)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// Inside returns path relative to dir, and whether it is dir or lies in it. It
// looks at the names only: both must be absolute, or both relative.
func Inside(dir, path string) (rel string, inside bool) {
	rel, err := filepath.Rel(dir, path)
	return rel, err == nil && filepath.IsLocal(rel)
}

// SyncDir makes the names in a directory durable. Windows does this by itself.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(filepath.Clean(dir))
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil // this file system cannot sync a directory
	}
	return errors.Join(err, d.Close())
}
