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

// Delete removes a session and every trace of it. It stops an active one
// without waiting for its last words.
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
	h.dropSession(s)
	return err
}

// erase removes a session's files and its data in the store.
func (h *Hub) erase(ctx context.Context, id string) error {
	return h.edit(ctx, eraseTimeout, func(ctx context.Context) error {
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

// Forget deletes what was said in the last d of a session and returns the
// number of deleted entries.
func (h *Hub) Forget(ctx context.Context, id string, d time.Duration) (int, error) {
	defer h.dropCaches()
	ctx, cancel := context.WithTimeout(ctx, eraseTimeout)
	defer cancel()
	s := h.find(id)
	if s == nil {
		return h.forgetStored(ctx, id, d)
	}
	select {
	case s.saving <- struct{}{}: // nothing is written to the store meanwhile
		defer func() { <-s.saving }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if h.find(id) != s { // it was deleted, or saved and dropped
		return h.forgetStored(ctx, id, d)
	}
	n, line, from, to, err := s.forget(d)
	if hearken.CodeOf(err) != "" {
		return 0, err
	}
	if err != nil {
		return 0, hearken.Errorf(hearken.RepositoryError, "the disk refused to delete it: %w.", err).WithTry("again when the disk works")
	}
	if err := h.cfg.Store.Forget(ctx, id, line); err != nil && hearken.CodeOf(err) != hearken.SessionNotFound {
		return n, storeFailed(err)
	}
	s.addEvent(hearken.EventForgotten, from, to, "[the last %s were forgotten on request]", d)
	s.endIfComplete() // the backlog may be empty now
	return n, nil
}

// forget removes what was said in the last d from memory, journal and spool. It
// returns how many entries it removed, the first removed line, and the
// stretch that it removed.
func (s *session) forget(d time.Duration) (n, line int, from, to float64, err error) {
	s.confirming.Lock() // nothing is confirmed meanwhile
	defer s.confirming.Unlock()
	s.mu.Lock()
	if s.phase == gone {
		s.mu.Unlock()
		return 0, 0, 0, 0, notFound(s.id)
	}
	to = s.snapshotLocked().Duration
	from = max(0, to-d.Seconds())
	line = s.info.SegmentCount + 1
	if first := slices.IndexFunc(s.segments, func(seg hearken.Segment) bool { return seg.EndTime > from && seg.Origin != hearken.EventOrigin }); first >= 0 {
		n, line = len(s.segments)-first, s.segments[first].Line
		clear(s.segments[first:])
		s.segments = s.segments[:first]
	}
	clear(s.interim)
	s.forgotten, s.forgetFrom = to, from // later results for it are ignored
	s.clipBacklogLocked(position(from))
	channels := s.channels
	for _, c := range channels {
		c.abandonStream()
		if untranscribed := max(c.finalUntil.Load(), position(lastEnd(s.segments, c.origin, true))); untranscribed < position(from) {
			s.addBacklogLocked(c.origin, untranscribed, position(from)) // this part is not forgotten
		}
		end := c.spool.end()
		c.fed.Store(end)
		c.finalUntil.Store(end)
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
	return n, line, from, to, err
}

// clipBacklogLocked removes everything from a position on from the backlog.
func (s *session) clipBacklogLocked(from int64) {
	clipped := map[*backlogSpan]bool{}
	for _, span := range s.backlog {
		if span.To > from {
			span.To = from
			clipped[span] = true
		}
	}
	s.backlog = slices.DeleteFunc(s.backlog, func(span *backlogSpan) bool { return span.From >= span.To })
	if s.backlogChannel != nil && clipped[s.backlogChannel.backlog] {
		s.backlogChannel.cancel() // the rest is transcribed anew
	}
}

// forgottenUntil is the position before which a live channel may not replay.
func (s *session) forgottenUntil() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return position(s.forgotten)
}

// forgetStored is [Hub.Forget] for a session that is only in the store.
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
	for _, o := range channelOrigins {
		archived := newSpool("", filepath.Join(h.audioDir(), id, string(o)), 0, 0)
		if err := archived.discard(position(from)); err != nil {
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
