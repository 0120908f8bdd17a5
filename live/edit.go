package live

import (
	"context"
	"time"

	"github.com/hearken-dev/hearken"
)

// edit changes a stored session while no one else does.
func (h *Hub) edit(ctx context.Context, timeout time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	select {
	case h.editLock <- struct{}{}:
		defer func() { <-h.editLock }()
	case <-ctx.Done():
		return storeFailed(ctx.Err())
	}
	defer h.dropCaches()
	return do(ctx)
}

// Rename gives a session a title.
func (h *Hub) Rename(ctx context.Context, id, title string) (info *hearken.Session, err error) {
	if s := h.find(id); s != nil {
		info, err = s.rename(title)
		if err != nil || h.find(id) == s {
			return info, err
		}
		// It was saved and dropped meanwhile, perhaps without its title.
	}
	err = h.edit(ctx, saveTimeout, func(ctx context.Context) error {
		if info, err = h.stored(ctx, id); err != nil {
			return err
		}
		info.Title = title
		return storeFailed(h.cfg.Store.Save(ctx, info, nil))
	})
	return info, err
}

func (s *session) rename(title string) (*hearken.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase == gone {
		return nil, notFound(s.id)
	}
	s.info.Title = title
	s.journal.enqueue(s.headLocked())
	s.markUnsavedLocked()
	return new(s.snapshotLocked()), nil
}

// SaveNote saves a markdown note with its session.
func (h *Hub) SaveNote(ctx context.Context, n hearken.Note) error {
	return h.edit(ctx, saveTimeout, func(ctx context.Context) error {
		if s := h.find(n.Session); s != nil {
			if err := s.save(ctx); err != nil { // the store needs the session first
				return storeFailed(err)
			}
		}
		if _, err := h.stored(ctx, n.Session); err != nil {
			return err
		}
		n.SavedAt = h.cfg.Now().UTC()
		return storeFailed(h.cfg.Store.SaveNote(ctx, &n))
	})
}

// Note finds a session's note.
func (h *Hub) Note(ctx context.Context, id string) (*hearken.Note, error) {
	if _, err := h.Session(ctx, id); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	note, err := h.cfg.Store.Note(ctx, id)
	return note, storeFailed(err)
}

// Save stores entries of a finished session that was transcribed elsewhere.
// [Hub.Sessions] lists it at once.
func (h *Hub) Save(ctx context.Context, info *hearken.Session, entries []hearken.Segment) error {
	return h.edit(ctx, saveTimeout, func(ctx context.Context) error {
		return storeFailed(h.cfg.Store.Save(ctx, info, entries))
	})
}
