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
type Lock struct {
	f    *os.File
	dir  string
	info HubInfo
}

// Acquire creates the directory if needed and takes its lock. It does not wait.
func Acquire(dir string) (*Lock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, hearken.Errorf(hearken.RepositoryError, "Cannot create the data directory: %w.", err).
			WithTry("HEARKEN_DATA_DIR=/a/directory/of/yours")
	}
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, hearken.Errorf(hearken.RepositoryError, "Cannot write to the data directory: %w.", err).
			WithTry("HEARKEN_DATA_DIR=/a/directory/of/yours")
	}
	locked, err := files.TryLock(f)
	if !locked {
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("lock data directory: %w", err)
		}
		return nil, heldError(dir)
	}
	return &Lock{f: f, dir: dir, info: HubInfo{PID: os.Getpid(), Started: time.Now().UTC()}}, nil
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
	return l.f.Close()
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
