// Package jsonfile keeps sessions as plain files in a folder, for those who
// want to read, copy and back up their transcripts without any database.
//
// Each session is a folder of its own with session.json, note.json and
// segments.jsonl, one entry a line. Each action, alarm, grant and contact is a
// file. There is no index: a search reads every file, which is fine for
// hundreds of sessions and slow for many thousands.
// One process may write at a time; others may read.
package jsonfile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
)

var _ hearken.Store = (*Store)(nil)

// Store is a folder of sessions.
type Store struct {
	// Log is told of files that cannot be read and are passed over. It may be
	// set before the store is used.
	Log *slog.Logger

	dir  string
	root *os.Root
	mu   sync.RWMutex // held for writing while files change

	indexMu sync.Mutex
	indexes map[string]*index
	known   map[string]*summary // of actions, by their ids
	warned  sync.Once
}

// version is how the files are laid out. Version 1 had the owner among the keys.
const version = 2

type format struct {
	Version int `json:"version"`
}

// Files of a session's folder and of the whole, and the suffix of a folder that is going away.
const (
	sessionFile  = "session.json"
	segmentsFile = "segments.jsonl"
	noteFile     = "note.json"
	keysFile     = "keys.json"
	ownerFile    = "owner.json"
	formatFile   = "format.json"
	deleted      = ".deleted"
)

// Open opens the folder and makes it if it is not there, readable by its owner
// only.
func Open(ctx context.Context, dir string) (*Store, error) {
	s := &Store{dir: dir, Log: slog.New(slog.DiscardHandler), indexes: map[string]*index{}}
	if err := s.begin(ctx); err != nil {
		if s.root != nil {
			s.root.Close()
		}
		return nil, hearken.Errorf(hearken.RepositoryError, "The folder %s cannot be used: %w.", dir, err).
			WithTry("check that it is a folder of this version that you may write, or set DATABASE_URL to another one")
	}
	return s, nil
}

func (s *Store) begin(ctx context.Context) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, dir := range []string{"sessions", actionsDir, alarmsDir, grantsDir, contactsDir} {
		if err := os.MkdirAll(filepath.Join(s.dir, dir), 0o700); err != nil {
			return err
		}
	}
	if s.root, err = os.OpenRoot(s.dir); err != nil {
		return err
	}
	var kept format
	if err := s.read(formatFile, &kept); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if kept.Version > version {
		return fmt.Errorf("it has version %d, but this Hearken knows only versions up to %d", kept.Version, version)
	}
	if kept.Version < version {
		if err := s.moveOwner(ctx); err != nil {
			return err
		}
	}
	// Writing tells a folder that cannot be written.
	if err := s.write(formatFile, format{version}); err != nil {
		return err
	}
	entries, err := fs.ReadDir(s.root.FS(), "sessions")
	if err != nil {
		return err
	}
	for _, e := range entries { // left by a process that ended while deleting
		if strings.HasSuffix(e.Name(), deleted) {
			if err := s.root.RemoveAll("sessions/" + e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close releases the folder.
func (s *Store) Close() error { return s.root.Close() }

// Scans reports that a search reads every transcript.
func (s *Store) Scans() bool { return true }

// place is where a file of a session lies. Ids are checked before.
func place(id, name string) string { return "sessions/" + id + "/" + name }

// write puts a value into a file, all of it or nothing.
func (s *Store) write(name string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return s.replace(name, append(data, '\n'))
}

// replace makes a file hold data, by way of another one.
func (s *Store) replace(name string, data []byte) error {
	temporary := name + ".tmp"
	f, err := s.root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = s.root.Rename(temporary, name)
	}
	if err != nil {
		s.root.Remove(temporary)
		return err
	}
	return s.sync(filepath.Dir(name))
}

// sync makes the names in a folder durable, where the system has this.
func (s *Store) sync(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := s.root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// read fills value from a file. One that was damaged is named in the error.
func (s *Store) read(name string, value any) error {
	data, err := s.root.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, value); err != nil {
		return s.damaged(name, err)
	}
	return nil
}

// damaged tells a person which file to look at.
func (s *Store) damaged(name string, err error) error {
	path := filepath.Join(s.dir, filepath.FromSlash(name))
	try := "repair it by hand, or remove it"
	if strings.HasPrefix(name, "sessions/") {
		try = "repair it by hand, or delete the session"
	}
	return hearken.Errorf(hearken.RepositoryError, "The file %s is damaged: %w.", path, err).WithTry("%s", try)
}

// stored is a time as all stores keep it.
func stored(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

func storedPtr(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := stored(*t)
	return &u
}

func noSession(id string) error {
	return hearken.Errorf(hearken.SessionNotFound, "There is no session %s.", id).WithTry("list the sessions")
}

// there fails unless the session is there and the caller still is.
func (s *Store) there(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !hearken.ValidID(id) {
		return noSession(id)
	}
	if _, err := s.root.Stat(place(id, sessionFile)); errors.Is(err, fs.ErrNotExist) {
		return noSession(id)
	} else if err != nil {
		return fmt.Errorf("find session: %w", err)
	}
	return nil
}
