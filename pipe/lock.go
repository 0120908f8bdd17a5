package pipe

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/files"
)

// Files of a hub in its data directory.
const (
	lockName = "hub.lock"
	infoName = "hub.json"
)

// A HubInfo is what the hub of a data directory wrote about itself. Only the
// lock says whether that hub still runs.
type HubInfo struct {
	PID     int       `json:"pid"`
	Socket  string    `json:"socket"`
	HTTP    string    `json:"http,omitempty"`
	Store   string    `json:"store,omitempty"`
	Started time.Time `json:"started"`
}

// ErrHeld is wrapped by the error of [Acquire] when another process holds the
// lock.
var ErrHeld = errors.New("the data directory has a hub")

// A Lock makes its owner the only hub of a data directory. The system releases
// it when the process ends, however it ends.
//
// It locks the file hub.lock and, where the system can, the directory itself:
// whoever removes or replaces the file makes way for no second hub. Versions
// that know only the file still exclude this one.
type Lock struct {
	file, directory *os.File // directory is nil where only the file can be locked
	dir             string
	info            HubInfo
}

// Acquire creates the directory if needed and takes its lock. It does not wait.
func Acquire(dir string) (*Lock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, hearken.Errorf(hearken.RepositoryError, "Cannot create the data directory: %w.", err).
			WithTry("HEARKEN_DATA_DIR=/a/directory/of/yours")
	}
	directory, held := lockDirectory(dir)
	if held {
		return nil, heldError(dir)
	}
	f, err := lockFile(dir)
	if err != nil {
		if directory != nil {
			directory.Close()
		}
		return nil, err
	}
	return &Lock{file: f, directory: directory, dir: dir, info: HubInfo{PID: os.Getpid(), Started: time.Now().UTC()}}, nil
}

// lockFile takes the lock on the file in dir. Somebody may remove or replace the
// file between opening and locking it; a lock on a file that is gone excludes
// nobody.
func lockFile(dir string) (*os.File, error) {
	path := filepath.Join(dir, lockName)
	for range 10 {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, hearken.Errorf(hearken.RepositoryError, "Cannot write to the data directory: %w.", err).
				WithTry("HEARKEN_DATA_DIR=/a/directory/of/yours")
		}
		locked, err := files.TryLock(f)
		switch {
		case err != nil:
			f.Close()
			return nil, fmt.Errorf("lock data directory: %w", err)
		case !locked:
			f.Close()
			return nil, heldError(dir)
		case isAt(f, path):
			return f, nil
		}
		f.Close()
	}
	return nil, heldError(dir)
}

// isAt reports whether path still leads to f.
func isAt(f *os.File, path string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(mine, there)
}

// heldError says which process holds the lock, as far as is known.
func heldError(dir string) error {
	holder := ""
	if h, ok := ReadHubInfo(dir); ok {
		holder = fmt.Sprintf(" (process %d", h.PID)
		if h.HTTP != "" {
			holder += " at " + h.HTTP
		}
		holder += ")"
	}
	e := hearken.Errorf(hearken.Busy, "A hub already runs for %s%s.", dir, holder).
		WithTry("another directory, HEARKEN_DATA_DIR=..., or join the running hub with `hearken --stdio`")
	e.Err = ErrHeld
	return e
}

// Describe tells other processes where this hub is. It may be called again.
func (l *Lock) Describe(socket, http, store string) error {
	l.info.Socket, l.info.HTTP, l.info.Store = socket, http, store
	data, err := json.Marshal(l.info)
	if err != nil {
		return err
	}
	return files.Replace(filepath.Join(l.dir, infoName), append(data, '\n'), 0o600)
}

// Release lets the next hub in. The lock file stays: if it were removed, two
// processes could lock two different files of the same name.
func (l *Lock) Release() error {
	os.Remove(filepath.Join(l.dir, infoName))
	err := l.file.Close()
	if l.directory != nil {
		err = errors.Join(err, l.directory.Close())
	}
	return err
}

// ReadHubInfo reads what the hub of a data directory wrote about itself.
func ReadHubInfo(dir string) (HubInfo, bool) {
	var info HubInfo
	data, err := os.ReadFile(filepath.Join(dir, infoName))
	if err != nil || json.Unmarshal(data, &info) != nil {
		return HubInfo{}, false
	}
	return info, true
}
