package audit

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// checkpointsFile holds the signed checkpoints, one after the other.
const checkpointsFile = "checkpoints"

// file is what the audit needs of a file; tests put faulty ones in.
type file interface {
	io.WriterAt
	Truncate(size int64) error
	Sync() error // the data and what is needed to find it again
	Stat() (fs.FileInfo, error)
	Close() error
}

// disk is a real file.
type disk struct{ *os.File }

func (d disk) Sync() error { return syncData(d.File) }

func openFile(path string) (file, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	return disk{f}, nil
}

// monthForm is how files are named.
const monthForm = "2006-01.jsonl"

func monthName(t time.Time) string { return t.UTC().Format(monthForm) }

// months lists the files of a folder that hold something, oldest first.
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

// replace makes a file hold data, all of it or nothing.
func replace(path string, data []byte) error {
	temporary := path + ".tmp"
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, syncData(f), f.Close()); err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		os.Remove(temporary)
	}
	return err
}

// syncDir makes the names in a folder durable, where the system has this.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(filepath.Clean(dir))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
