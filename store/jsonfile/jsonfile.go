// Package jsonfile keeps sessions as plain files in a folder, for those who
// want to read, copy and back up their transcripts without a database.
//
// Each session is a folder with session.json, note.json and segments.jsonl,
// which has one entry per line. Each action, alarm, grant and contact is a
// file. There is no index: a search reads every transcript, which is fine for
// hundreds of sessions and slow for many thousands. Only one process may write
// at a time; others may read.
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
	"strings"
	"sync"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/files"
	"github.com/hearken-dev/hearken/store"
)

var _ hearken.Store = (*Store)(nil)

// Store is a folder of sessions. [hearken.Store] describes its methods.
type Store struct {
	// Log gets a warning for each damaged file that is skipped. It may be set
	// before the store is used.
	Log *slog.Logger

	dir  string
	root *os.Root
	mu   sync.RWMutex // held for writing while files change

	cacheMu   sync.Mutex
	indexes   map[string]*lineIndex     // by session id
	summaries map[string]*actionSummary // by action id
	warned    sync.Once
}

// version is how the files are laid out. Version 1 had the owner among the
// keys.
const version = 2

type format struct {
	Version int `json:"version"`
}

const (
	// Files of one session.
	sessionFile  = "session.json"
	segmentsFile = "segments.jsonl"
	noteFile     = "note.json"

	// Files of the whole store.
	keysFile     = "keys.json"
	ownerFile    = "owner.json"
	exposureFile = "exposure.json"
	formatFile   = "format.json"

	// deletedSuffix ends the name of a session's folder while it is deleted.
	deletedSuffix = ".deleted"
)

// Open opens the folder and creates it if it does not exist. Only the current
// user can read a new folder.
func Open(ctx context.Context, dir string) (*Store, error) {
	s := &Store{dir: dir, Log: slog.New(slog.DiscardHandler), indexes: map[string]*lineIndex{}}
	if err := s.prepare(ctx); err != nil {
		if s.root != nil {
			s.root.Close()
		}
		return nil, hearken.Errorf(hearken.RepositoryError, "The folder %s cannot be used: %w.", dir, err).
			WithTry("check that it is a folder of this version that you may write, or set DATABASE_URL to another one")
	}
	return s, nil
}

// OpenExisting opens the folder. If it is missing, or holds no file, that is
// [hearken.NotFound].
func OpenExisting(ctx context.Context, dir string) (*Store, error) {
	found := false
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		found = true
		return fs.SkipAll
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, hearken.Errorf(hearken.NotFound, "The folder %s is missing.", dir)
	case err == nil && !found:
		return nil, hearken.Errorf(hearken.NotFound, "The folder %s is empty.", dir)
	}
	return Open(ctx, dir)
}

// prepare creates the folders, brings the files up to date and completes
// deletions that a crash interrupted.
func (s *Store) prepare(ctx context.Context) (err error) {
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
	var old format
	if err := s.read(formatFile, &old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if old.Version > version {
		return fmt.Errorf("it has version %d, but this Hearken knows only versions up to %d", old.Version, version)
	}
	if old.Version < version {
		if err := s.moveOwner(ctx); err != nil {
			return err
		}
	}
	// This fails if the folder cannot be written.
	if err := s.write(formatFile, format{version}); err != nil {
		return err
	}
	entries, err := fs.ReadDir(s.root.FS(), "sessions")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), deletedSuffix) {
			if err := s.root.RemoveAll("sessions/" + e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close releases the folder.
func (s *Store) Close() error { return s.root.Close() }

// Scans says that a search reads every transcript.
func (s *Store) Scans() bool { return true }

// sessionPath is the path of a file of a session. The id must be valid.
func sessionPath(id, name string) string { return "sessions/" + id + "/" + name }

// write replaces a file by a value as JSON.
func (s *Store) write(name string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return s.replace(name, append(data, '\n'))
}

// replace writes data to a file, which is either the old or the new one even
// after a crash. Unlike files.Replace it stays within the root, and its
// temporary file has a fixed name, so that a crash leaves at most one.
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

// sync makes the names in a folder durable.
func (s *Store) sync(dir string) error { return files.SyncDir(filepath.Join(s.dir, dir)) }

// read decodes a file. The error names a file that is damaged.
func (s *Store) read(name string, value any) error {
	data, err := s.root.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, value); err != nil {
		return s.damagedError(name, err)
	}
	return nil
}

// damagedError is the error for a file that cannot be decoded.
func (s *Store) damagedError(name string, err error) error {
	path := filepath.Join(s.dir, filepath.FromSlash(name))
	try := "repair it by hand, or remove it"
	if strings.HasPrefix(name, "sessions/") {
		try = "repair it by hand, or delete the session"
	}
	return hearken.Errorf(hearken.RepositoryError, "The file %s is damaged: %w.", path, err).WithTry("%s", try)
}

// requireSession fails if there is no such session, or if ctx has ended.
func (s *Store) requireSession(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !hearken.ValidID(id) {
		return store.NoSession(id)
	}
	if _, err := s.root.Stat(sessionPath(id, sessionFile)); errors.Is(err, fs.ErrNotExist) {
		return store.NoSession(id)
	} else if err != nil {
		return fmt.Errorf("find session: %w", err)
	}
	return nil
}
