package live

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/hearken-dev/hearken"
)

// Delete removes a session and every trace of it. It stops an active one
// without waiting for its last words.
func (h *Hub) Delete(ctx context.Context, id string) error {
	s := h.find(id)
	if s == nil {
		_, err := h.stored(ctx, id)
		switch {
		case hearken.CodeOf(err) == hearken.SessionNotFound && hearken.ValidID(id):
			return h.completeDelete(ctx, id, err)
		case err != nil:
			return err
		}
		return errors.Join(h.erase(ctx, id), h.forgetQuotes(ctx, id))
	}
	s.mu.Lock()
	if s.phase == running || s.phase == finishing {
		close(s.stopped)
	}
	s.phase = gone
	s.info.Status = hearken.Stopped
	s.wakeReadersLocked()
	channels, backlog := s.channels, s.backlogChannel
	s.input.end(hearken.InputEvent{Kind: hearken.InputClosed, Reason: "deleted"})
	s.mu.Unlock()

	if backlog != nil {
		backlog.cancel()
		<-backlog.done
	}
	for _, c := range channels {
		c.cancel()
		<-c.done
	}
	s.saving <- struct{}{} // let a running write to the store end first
	defer func() { <-s.saving }()
	var err error
	for _, c := range channels {
		err = errors.Join(err, c.spool.remove())
	}
	err = errors.Join(err, s.journal.remove(), h.erase(ctx, id))
	h.dropSession(s) // from here on nobody can quote it
	return errors.Join(err, h.forgetQuotes(ctx, id))
}

// erase removes a session's files and its data in the store.
func (h *Hub) erase(ctx context.Context, id string) error {
	return h.edit(ctx, eraseTimeout, func(ctx context.Context) error {
		err := errors.Join(
			os.RemoveAll(h.journalPath(id)),
			os.RemoveAll(h.journalPath(id)+damagedSuffix),
			os.RemoveAll(filepath.Join(h.spoolDir(), id)),
			os.RemoveAll(filepath.Join(h.audioDir(), id)),
		)
		if serr := h.cfg.Store.Delete(ctx, id); serr != nil && hearken.CodeOf(serr) != hearken.SessionNotFound {
			err = errors.Join(err, storeFailed(serr))
		}
		return err
	})
}

// completeDelete deletes what is left of a session that no longer exists: an
// earlier call may have failed in the middle. If nothing is left, the session
// was not found.
func (h *Hub) completeDelete(ctx context.Context, id string, notFound error) error {
	n, err := h.onDeleted(ctx, id, math.Inf(-1), math.Inf(1))
	if err == nil && n == 0 {
		return notFound
	}
	return err
}

// forgetQuotes deletes what others quote of a whole session.
func (h *Hub) forgetQuotes(ctx context.Context, id string) error {
	_, err := h.onDeleted(ctx, id, math.Inf(-1), math.Inf(1))
	return err
}

// onDeleted calls [Config.OnDeleted]. What is half deleted is completed even if
// the caller leaves.
func (h *Hub) onDeleted(ctx context.Context, id string, from, to float64) (int, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), eraseTimeout)
	defer cancel()
	n, err := h.cfg.OnDeleted(ctx, id, from, to)
	if err == nil || hearken.CodeOf(err) != "" {
		return n, err
	}
	return n, hearken.Errorf(hearken.RepositoryError, "the words are deleted, but actions still quote them: %w.", err).
		WithTry("the same again")
}

// expire deletes the sessions that stopped before a time.
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
