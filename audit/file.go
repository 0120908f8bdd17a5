package audit

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hearken-dev/hearken/files"
)

// checkpointsFile holds the signed checkpoints, one after the other.
const checkpointsFile = "checkpoints"

// A file is what the audit needs of a file. Tests use faulty ones.
type file interface {
	io.WriterAt
	Truncate(size int64) error
	Sync() error // the data and what is needed to find it
	Close() error
}

// diskFile is a real file.
type diskFile struct{ *os.File }

func (d diskFile) Sync() error { return files.SyncData(d.File) }

func openFile(path string) (file, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	return diskFile{f}, nil
}

// monthForm is the form of the files' names.
const monthForm = "2006-01.jsonl"

func monthName(t time.Time) string { return t.UTC().Format(monthForm) }

func isMonth(name string) bool {
	_, err := time.Parse(monthForm, name)
	return err == nil
}

// months lists the monthly files that are not empty, oldest first. A directory
// that does not exist has none.
func months(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if !isMonth(e.Name()) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		if info.Size() > 0 {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// firstHash returns the hash of the first record, which identifies an audit. It
// is empty if there is none.
func firstHash(dir string) (string, error) {
	names, err := months(dir)
	if err != nil || len(names) == 0 {
		return "", err
	}
	f, err := os.Open(filepath.Join(dir, names[0]))
	if err != nil {
		return "", err
	}
	defer f.Close()
	l, err := bufio.NewReaderSize(f, longestLine).ReadSlice('\n')
	if err != nil {
		return "", nil // no record
	}
	return hexHash(l[:len(l)-1]), nil
}

// removeTemporary removes the temporary files of [files.Replace] that a crash
// left in a directory.
func removeTemporary(dir string) error {
	left, err := filepath.Glob(filepath.Join(dir, ".new-*"))
	for _, path := range left {
		if rm := os.Remove(path); !errors.Is(rm, fs.ErrNotExist) {
			err = errors.Join(err, rm)
		}
	}
	return err
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
