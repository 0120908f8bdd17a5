package audit

import (
	"io"
	"os"
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

// months lists the monthly files that are not empty, oldest first.
func months(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if _, err := time.Parse(monthForm, e.Name()); err != nil {
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
