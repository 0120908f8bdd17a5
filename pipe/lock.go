package pipe

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hearken-dev/hearken"
)

// The files by which a data directory knows its hub.
const (
	lockName   = "hub.lock"
	holderName = "hub.json"
)

// A Holder describes the hub of a data directory. It is what the hub wrote
// about itself; only the lock tells whether it still runs.
type Holder struct {
	PID     int       `json:"pid"`
	Socket  string    `json:"socket"`
	HTTP    string    `json:"http,omitempty"`
	Store   string    `json:"store,omitempty"`
	Started time.Time `json:"started"`
}

// ErrHeld is wrapped by the error of [Acquire] when another process holds the
// lock.
var ErrHeld = errors.New("the data directory has a hub")

// A Lock makes its owner the only hub of a data directory. The kernel lets go
// of it when the process ends, however it ends.
type Lock struct {
	f      *os.File
	dir    string
	holder Holder
}

// Acquire makes the directory if need be and takes its lock, without waiting.
func Acquire(dir string) (*Lock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, hearken.Errorf(hearken.RepositoryError, "The data directory cannot be made: %w.", err).
			WithTry("HEARKEN_DATA_DIR=/a/directory/of/yours")
	}
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, hearken.Errorf(hearken.RepositoryError, "The data directory cannot be written to: %w.", err).
			WithTry("HEARKEN_DATA_DIR=/a/directory/of/yours")
	}
	if err := lockFile(f); err != nil {
		f.Close()
		if !errors.Is(err, ErrHeld) {
			return nil, fmt.Errorf("lock data directory: %w", err)
		}
		return nil, held(dir)
	}
	return &Lock{f: f, dir: dir, holder: Holder{PID: os.Getpid(), Started: time.Now().UTC()}}, nil
}

// held says who holds the lock, as far as is known.
func held(dir string) error {
	who := ""
	if h, ok := Find(dir); ok {
		who = fmt.Sprintf(" (process %d", h.PID)
		if h.HTTP != "" {
			who += " at " + h.HTTP
		}
		who += ")"
	}
	e := hearken.Errorf(hearken.Busy, "A hub already runs for %s%s.", dir, who).
		WithTry("another directory, HEARKEN_DATA_DIR=..., or join the running hub with `hearken --stdio`")
	e.Err = ErrHeld
	return e
}

// Describe tells other processes about this hub. It may be called again.
func (l *Lock) Describe(socket, http, store string) error {
	l.holder.Socket, l.holder.HTTP, l.holder.Store = socket, http, store
	data, err := json.Marshal(l.holder)
	if err != nil {
		return err
	}
	temp := filepath.Join(l.dir, holderName+".new")
	if err := os.WriteFile(temp, append(data, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(temp, filepath.Join(l.dir, holderName))
}

// Release lets the next hub in. The lock file stays: removing it would let two
// processes lock two different files of the same name.
func (l *Lock) Release() error {
	os.Remove(filepath.Join(l.dir, holderName))
	return l.f.Close()
}

// Find reads what the hub of a directory wrote about itself.
func Find(dir string) (Holder, bool) {
	var h Holder
	data, err := os.ReadFile(filepath.Join(dir, holderName))
	if err != nil || json.Unmarshal(data, &h) != nil {
		return Holder{}, false
	}
	return h, true
}

func asError(err error) (*hearken.Error, bool) { return errors.AsType[*hearken.Error](err) }
