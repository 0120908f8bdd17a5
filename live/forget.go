package live

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
)

// edit does something to a stored session while nobody else does.
func (h *Hub) edit(ctx context.Context, within time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	select {
	case h.edits <- struct{}{}:
		defer func() { <-h.edits }()
	case <-ctx.Done():
		return storeFailed(ctx.Err())
	}
	defer h.changed()
	return do(ctx)
}

// Rename gives a session a title.
func (h *Hub) Rename(ctx context.Context, id, title string) (info *hearken.Session, err error) {
	if s := h.find(id); s != nil {
		info, err = s.rename(title)
		if err != nil || h.find(id) == s {
			return info, err
		}
		// It was saved for good in between, perhaps without its title.
	}
	err = h.edit(ctx, saveWithin, func(ctx context.Context) error {
		if info, err = h.stored(ctx, id); err != nil {
			return err
		}
		info.Title = title
		if err := h.cfg.Store.Save(ctx, info, nil); err != nil {
			return storeFailed(err)
		}
		return nil
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
	s.journal.post(s.headLocked())
	s.dirtyLocked()
	info := s.snapshotLocked()
	return &info, nil
}

// SaveNote keeps a markdown note with its session.
func (h *Hub) SaveNote(ctx context.Context, n hearken.Note) error {
	return h.edit(ctx, saveWithin, func(ctx context.Context) error {
		if s := h.find(n.Session); s != nil {
			if err := s.save(ctx); err != nil { // the note needs its session there
				return storeFailed(err)
			}
		}
		if _, err := h.stored(ctx, n.Session); err != nil {
			return err
		}
		n.SavedAt = h.cfg.Now().UTC()
		if err := h.cfg.Store.SaveNote(ctx, &n); err != nil {
			return storeFailed(err)
		}
		return nil
	})
}

// Note finds a session's note.
func (h *Hub) Note(ctx context.Context, id string) (*hearken.Note, error) {
	if _, err := h.Session(ctx, id); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	note, err := h.cfg.Store.Note(ctx, id)
	if err != nil {
		return nil, storeFailed(err)
	}
	return note, nil
}

// Delete stops a session if need be, without waiting for its last words, and
// removes every trace of it.
func (h *Hub) Delete(ctx context.Context, id string) error {
	s := h.find(id)
	if s == nil {
		if _, err := h.stored(ctx, id); err != nil {
			return err
		}
		return h.erase(ctx, id)
	}
	s.mu.Lock()
	if s.phase == running || s.phase == finishing {
		close(s.stopped)
	}
	s.phase = gone
	s.info.Status = hearken.Stopped
	s.changedLocked()
	channels, fill := s.channels, s.fill
	if s.input != nil {
		s.input.end(hearken.InputEvent{Kind: hearken.InputClosed, Reason: "deleted"})
	}
	s.mu.Unlock()

	if fill != nil {
		fill.cancel()
		<-fill.done
	}
	for _, c := range channels {
		c.cancel()
		<-c.done
	}
	s.saving <- struct{}{} // a write to the store that is under way ends first
	defer func() { <-s.saving }()
	var errs []error
	for _, c := range channels {
		errs = append(errs, c.spool.remove())
	}
	errs = append(errs, s.journal.remove(), h.erase(ctx, id))
	h.forgetSession(s)
	return errors.Join(errs...)
}

// erase removes what lies outside of the hub's memory.
func (h *Hub) erase(ctx context.Context, id string) error {
	return h.edit(ctx, eraseWithin, func(ctx context.Context) error {
		err := errors.Join(
			os.RemoveAll(h.journalPath(id)),
			os.RemoveAll(filepath.Join(h.spoolDir(), id)),
			os.RemoveAll(filepath.Join(h.audioDir(), id)),
		)
		if serr := h.cfg.Store.Delete(ctx, id); serr != nil && hearken.CodeOf(serr) != hearken.SessionNotFound {
			err = errors.Join(err, storeFailed(serr))
		}
		return err
	})
}

// Forget removes what was said in the last d of a session and tells how many
// entries that were.
func (h *Hub) Forget(ctx context.Context, id string, d time.Duration) (int, error) {
	defer h.changed()
	ctx, cancel := context.WithTimeout(ctx, eraseWithin)
	defer cancel()
	s := h.find(id)
	if s == nil {
		return h.forgetStored(ctx, id, d)
	}
	select {
	case s.saving <- struct{}{}: // nothing is written to the store in between
		defer func() { <-s.saving }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if h.find(id) != s { // it was deleted, or saved for good
		return h.forgetStored(ctx, id, d)
	}
	n, line, from, heard, err := s.forget(d)
	if hearken.CodeOf(err) != "" {
		return 0, err
	}
	if err != nil {
		return 0, hearken.Errorf(hearken.RepositoryError, "the disk did not let it go: %w.", err).WithTry("again when the disk is well")
	}
	if err := h.cfg.Store.Forget(ctx, id, line); err != nil && hearken.CodeOf(err) != hearken.SessionNotFound {
		return n, storeFailed(err)
	}
	s.note(hearken.EventForgotten, from, heard, "[the last %s were forgotten on request]", d)
	s.clear() // perhaps nothing is owed any more
	return n, nil
}

// forget drops what was said in the last d from memory, journal and spool. It
// tells how many entries that were, and from which line and time on.
func (s *session) forget(d time.Duration) (n, line int, from, heard float64, err error) {
	s.confirming.Lock() // nothing is confirmed in between
	defer s.confirming.Unlock()
	s.mu.Lock()
	if s.phase == gone {
		s.mu.Unlock()
		return 0, 0, 0, 0, notFound(s.id)
	}
	heard = s.snapshotLocked().Duration
	from = max(0, heard-d.Seconds())
	line = s.info.SegmentCount + 1
	if first := slices.IndexFunc(s.segments, func(seg hearken.Segment) bool { return seg.EndTime > from && seg.Origin != hearken.EventOrigin }); first >= 0 {
		n, line = len(s.segments)-first, s.segments[first].Line
		clear(s.segments[first:])
		s.segments = s.segments[:first]
	}
	clear(s.interim)
	s.forgotten, s.forgetFrom = heard, from // what an engine still says about it is not taken
	s.clipDebtsLocked(position(from))
	channels := s.channels
	for _, c := range channels {
		c.restart()
		if unheard := max(c.through.Load(), position(lastWord(s.segments, c.origin))); unheard < position(from) {
			s.oweLocked(c.origin, unheard, position(from)) // that much is not forgotten
		}
		end := c.spool.end()
		c.fed.Store(end)
		c.through.Store(end)
	}
	records := []record{s.headLocked()}
	for i := range s.segments {
		records = append(records, record{Segment: &s.segments[i]})
	}
	s.mu.Unlock()

	err = s.journal.rewrite(records)
	for _, c := range channels {
		err = errors.Join(err, c.spool.discard(position(from)))
	}
	return n, line, from, heard, err
}

// clipDebtsLocked leaves of what is owed only what comes before a position.
func (s *session) clipDebtsLocked(from int64) {
	clipped := map[*debt]bool{}
	for _, d := range s.debts {
		if d.To > from {
			d.To = from
			clipped[d] = true
		}
	}
	s.debts = slices.DeleteFunc(s.debts, func(d *debt) bool { return d.From >= d.To })
	if s.fill != nil && clipped[s.fill.debt] {
		s.fill.cancel() // what is left of it is listened to anew
	}
}

// forgottenThrough is the position before which a live channel may not listen
// again.
func (s *session) forgottenThrough() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return position(s.forgotten)
}

// forgetStored does the same for a session that only the store has.
func (h *Hub) forgetStored(ctx context.Context, id string, d time.Duration) (int, error) {
	info, err := h.stored(ctx, id)
	if err != nil {
		return 0, err
	}
	n, line := 0, 0
	from := info.Duration - d.Seconds()
	err = h.segments(ctx, id, false, func(batch []hearken.Segment) error {
		for _, seg := range batch {
			if line == 0 && seg.EndTime > from {
				line = seg.Line
			}
			if line > 0 {
				n++
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	for _, o := range []hearken.Origin{hearken.Microphone, hearken.System} {
		kept := newSpool("", filepath.Join(h.audioDir(), id, string(o)), 0, 0)
		if err := kept.discard(position(from)); err != nil {
			return 0, err
		}
	}
	if line == 0 {
		return 0, nil
	}
	if err := h.cfg.Store.Forget(ctx, id, line); err != nil {
		return 0, storeFailed(err)
	}
	return n, nil
}

// expire deletes sessions that stopped before a moment.
func (h *Hub) expire(before time.Time) {
	old, err := h.cfg.Store.Sessions(h.ctx, hearken.SessionFilter{Status: hearken.Stopped, Until: before})
	if err != nil {
		h.cfg.Log.Warn("old sessions not listed", "err", err)
		return
	}
	for _, s := range old {
		if s.StoppedAt != nil && s.StoppedAt.Before(before) {
			if err := h.Delete(h.ctx, s.ID); err != nil {
				h.cfg.Log.Warn("old session not deleted", "session", s.ID, "err", err)
			}
		}
	}
}
