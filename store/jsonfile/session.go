package jsonfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/hearken-dev/hearken"
)

// Save implements [hearken.Store]. The segments are written before the
// session's own file, so a session that is seen has all its segments; if the
// process ends in between, the same Save completes it.
func (s *Store) Save(ctx context.Context, session *hearken.Session, segments []hearken.Segment) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !hearken.ValidID(session.ID) {
		return hearken.Errorf(hearken.Invalid, "The session id %q is not a UUID.", session.ID)
	}
	for _, g := range segments {
		if g.Line < 1 {
			return hearken.Errorf(hearken.Invalid, "A segment has the line %d; the first line is 1.", g.Line)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.root.MkdirAll("sessions/"+session.ID, 0o700); err != nil {
		return fmt.Errorf("save session: %w", err)
	}
	if err := s.append(session.ID, segments); err != nil {
		return fmt.Errorf("save segments: %w", err)
	}
	kept := *session
	kept.StartedAt, kept.StoppedAt = stored(kept.StartedAt), storedPtr(kept.StoppedAt)
	if err := s.write(place(session.ID, sessionFile), &kept); err != nil {
		return fmt.Errorf("save session: %w", err)
	}
	return nil
}

// Session implements [hearken.Store].
func (s *Store) Session(ctx context.Context, id string) (*hearken.Session, error) {
	if err := s.there(ctx, id); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.session(id)
}

func (s *Store) session(id string) (*hearken.Session, error) {
	var session hearken.Session
	err := s.read(place(id, sessionFile), &session)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noSession(id)
	}
	if err == nil && session.ID != id {
		err = s.damaged(place(id, sessionFile), fmt.Errorf("it holds the session %q", session.ID))
	}
	if err != nil {
		return nil, fmt.Errorf("read session: %w", err)
	}
	return &session, nil
}

// Sessions implements [hearken.Store]. Sessions whose file is damaged are left
// out and logged.
func (s *Store) Sessions(ctx context.Context, f hearken.SessionFilter) ([]hearken.Session, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all, err := s.sessions(ctx)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	all = slices.DeleteFunc(all, func(s hearken.Session) bool {
		return f.Status != "" && s.Status != f.Status ||
			!f.Since.IsZero() && s.StartedAt.Before(f.Since) ||
			!f.Until.IsZero() && !s.StartedAt.Before(f.Until)
	})
	if f.Limit > 0 && len(all) > f.Limit {
		all = all[:f.Limit]
	}
	return all, nil
}

// sessions reads all sessions, newest first.
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
			s.Log.Warn("session passed over", "session_id", e.Name(), "error", err)
		default:
			all = append(all, *session)
		}
	}
	slices.SortFunc(all, func(a, b hearken.Session) int {
		return cmp.Or(b.StartedAt.Compare(a.StartedAt), cmp.Compare(b.ID, a.ID))
	})
	return all, nil
}

// Delete implements [hearken.Store].
func (s *Store) Delete(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !hearken.ValidID(id) {
		return noSession(id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(id)
	// The folder is put aside first: from then on the session is gone, even if
	// the process ends before the files are.
	aside := "sessions/" + id + deleted
	err := s.root.Rename("sessions/"+id, aside)
	if errors.Is(err, fs.ErrNotExist) {
		return noSession(id)
	}
	if err == nil {
		err = errors.Join(s.root.RemoveAll(aside), s.sync("sessions"))
	}
	if err != nil {
		return fmt.Errorf("delete session: %w", err)
	}
	return nil
}
