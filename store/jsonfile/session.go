package jsonfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

// Save implements [hearken.Store]. It writes the segments before the session's
// own file, so a session that can be read has all its segments. If the process
// ends in between, the same Save completes it.
func (s *Store) Save(ctx context.Context, session *hearken.Session, segments []hearken.Segment) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := store.CheckSession(session, segments); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.root.MkdirAll("sessions/"+session.ID, 0o700); err != nil {
		return fmt.Errorf("save session: %w", err)
	}
	if err := s.appendSegments(session.ID, segments); err != nil {
		return fmt.Errorf("save segments: %w", err)
	}
	rounded := *session
	rounded.StartedAt, rounded.StoppedAt = store.RoundTime(session.StartedAt), store.RoundTimePtr(session.StoppedAt)
	return store.Wrap(s.write(sessionPath(session.ID, sessionFile), &rounded), "save session")
}

func (s *Store) Session(ctx context.Context, id string) (*hearken.Session, error) {
	if err := s.requireSession(ctx, id); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.session(id)
}

func (s *Store) session(id string) (*hearken.Session, error) {
	var session hearken.Session
	err := s.read(sessionPath(id, sessionFile), &session)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, store.NoSession(id)
	}
	if err == nil && session.ID != id {
		err = s.damagedError(sessionPath(id, sessionFile), fmt.Errorf("it holds the session %q", session.ID))
	}
	return &session, store.Wrap(err, "read session")
}

// Sessions implements [hearken.Store]. It skips and logs sessions whose file is
// damaged.
func (s *Store) Sessions(ctx context.Context, f hearken.SessionFilter) ([]hearken.Session, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all, err := s.sessions(ctx)
	return store.SelectSessions(all, f), store.Wrap(err, "list sessions")
}

// sessions reads all sessions, in no order. The lock is held.
func (s *Store) sessions(ctx context.Context) ([]hearken.Session, error) {
	entries, err := fs.ReadDir(s.root.FS(), "sessions")
	if err != nil {
		return nil, err
	}
	var all []hearken.Session
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !e.IsDir() || !hearken.ValidID(e.Name()) {
			continue
		}
		session, err := s.session(e.Name())
		switch {
		case hearken.CodeOf(err) == hearken.SessionNotFound: // its first Save did not finish
		case err != nil:
			s.Log.Warn("damaged session skipped", "session_id", e.Name(), "error", err)
		default:
			all = append(all, *session)
		}
	}
	return all, nil
}

func (s *Store) Delete(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !hearken.ValidID(id) {
		return store.NoSession(id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropIndex(id)
	// Renaming the folder deletes the session, even if the process ends before
	// the files are removed.
	aside := "sessions/" + id + deletedSuffix
	err := s.root.Rename("sessions/"+id, aside)
	if errors.Is(err, fs.ErrNotExist) {
		return store.NoSession(id)
	}
	if err == nil {
		err = errors.Join(s.root.RemoveAll(aside), s.sync("sessions"))
	}
	return store.Wrap(err, "delete session")
}

func (s *Store) SaveNote(ctx context.Context, n *hearken.Note) error {
	if err := s.requireSession(ctx, n.Session); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	rounded := *n
	rounded.SavedAt = store.RoundTime(n.SavedAt)
	return store.Wrap(s.write(sessionPath(n.Session, noteFile), &rounded), "save note")
}

func (s *Store) Note(ctx context.Context, session string) (*hearken.Note, error) {
	if err := s.requireSession(ctx, session); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	var n hearken.Note
	err := s.read(sessionPath(session, noteFile), &n)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, store.NoNote(session)
	}
	return &n, store.Wrap(err, "read note")
}
