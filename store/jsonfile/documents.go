package jsonfile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

// Folders of documents, each of which is a file.
const (
	actionsDir  = "actions"
	alarmsDir   = "alarms"
	grantsDir   = "grants"
	contactsDir = "contacts"
)

// documentPath is the path of a document. The id must be safe as a file name.
func documentPath(dir, id string) string { return dir + "/" + id + ".json" }

// fileNameOf makes a file name of an id that may contain anything.
func fileNameOf(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16])
}

// readAll calls f with each document of a folder. It skips and logs those that
// are damaged. The lock is held.
func readAll[T any](ctx context.Context, s *Store, dir string, f func(*T)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := fs.ReadDir(s.root.FS(), dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		var value T
		switch err := s.read(dir+"/"+e.Name(), &value); {
		case errors.Is(err, fs.ErrNotExist): // another process has just removed it
		case err != nil:
			s.Log.Warn("damaged file skipped", "folder", dir, "file", e.Name(), "error", err)
		default:
			f(&value)
		}
	}
	return nil
}

// save writes a document, new or changed.
func (s *Store) save(ctx context.Context, name string, value any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.write(name, value)
}

// saveVersion writes a document if the stored one has this version; 0 means
// that there is none. Then it increments version and returns true; if not,
// another writer was first.
func (s *Store) saveVersion(ctx context.Context, dir, id string, version *int, value any) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return false, err
	}
	name := documentPath(dir, id)
	var old struct{ Version int }
	if err := s.read(name, &old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if old.Version != *version {
		return false, nil
	}
	if dir == actionsDir {
		s.dropSummary(id)
	}
	if err := s.write(name, value); err != nil {
		return false, err
	}
	*version++
	return true, nil
}

// removeTemporary removes the temporary files that a crash left in a folder.
// The lock is held, so none is in use.
func (s *Store) removeTemporary(dir string) error {
	entries, err := fs.ReadDir(s.root.FS(), dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".tmp") {
			if err := s.root.Remove(dir + "/" + e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Store) SaveGrant(ctx context.Context, g *hearken.Grant) error {
	return store.Wrap(s.save(ctx, documentPath(grantsDir, fileNameOf(g.ID)), store.RoundGrantTimes(g)), "save grant")
}

func (s *Store) Grants(ctx context.Context) ([]hearken.Grant, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var found []hearken.Grant
	err := readAll(ctx, s, grantsDir, func(g *hearken.Grant) { found = append(found, *g) })
	store.SortGrants(found)
	return found, store.Wrap(err, "list grants")
}

func (s *Store) SaveContact(ctx context.Context, c *hearken.Contact) error {
	return store.Wrap(s.save(ctx, documentPath(contactsDir, fileNameOf(c.ID)), c), "save contact")
}

func (s *Store) DeleteContact(ctx context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := ctx.Err()
	if err == nil {
		err = s.root.Remove(documentPath(contactsDir, fileNameOf(id)))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return store.NoContact(id)
	}
	if err == nil {
		err = errors.Join(s.removeTemporary(contactsDir), s.sync(contactsDir))
	}
	return store.Wrap(err, "delete contact")
}

func (s *Store) Contacts(ctx context.Context) ([]hearken.Contact, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var found []hearken.Contact
	err := readAll(ctx, s, contactsDir, func(c *hearken.Contact) { found = append(found, *c) })
	store.SortContacts(found)
	return found, store.Wrap(err, "list contacts")
}

// A storedAlarm adds the version, which the JSON of an alarm omits.
type storedAlarm struct {
	hearken.Alarm
	Version int `json:"version"`
}

func (s *Store) SaveAlarm(ctx context.Context, a *hearken.Alarm) (bool, error) {
	if err := store.CheckActionID(a.Action); err != nil {
		return false, err
	}
	saved, err := s.saveVersion(ctx, alarmsDir, a.Action, &a.Version, &storedAlarm{*store.RoundAlarmTimes(a), a.Version + 1})
	return saved, store.Wrap(err, "save alarm")
}

// Alarms implements [hearken.ActionStore]. An alarm that is firing is sorted by
// that time. One without a time comes last.
func (s *Store) Alarms(ctx context.Context, before time.Time) ([]hearken.Alarm, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var found []hearken.Alarm
	err := readAll(ctx, s, alarmsDir, func(k *storedAlarm) {
		k.Alarm.Version = k.Version
		found = append(found, k.Alarm)
	})
	return store.SelectAlarms(found, before), store.Wrap(err, "list alarms")
}
