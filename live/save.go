package live

import (
	"context"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
)

const (
	// flushEvery is how often audio in memory is written to the spool, and
	// journals are synced.
	flushEvery = 250 * time.Millisecond
	// saveTimeout is how long one write to the store may take.
	saveTimeout = 10 * time.Second
	// saveBatch is how many entries one write to the store holds, so that
	// catching up after an outage is many short writes.
	saveBatch = 500
)

// every calls do at an interval until the hub closes.
func (h *Hub) every(d time.Duration, do func()) {
	t := time.NewTicker(d)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			do()
		case <-h.ctx.Done():
			return
		}
	}
}

// flushLoop writes audio in memory to the spool.
func (h *Hub) flushLoop() {
	h.every(flushEvery, func() {
		for _, s := range h.list() {
			s.mu.Lock()
			channels := s.channels
			s.mu.Unlock()
			for _, c := range channels {
				_ = c.spool.flush() // the spool remembers its failure for the status
			}
		}
	})
}

// syncLoop syncs journals, apart from flushLoop because a sync may take long.
func (h *Hub) syncLoop() {
	h.every(flushEvery, func() {
		for _, s := range h.list() {
			s.journal.syncOrRetry()
		}
	})
}

// saveLoop writes sessions to the store that have enough new segments or have
// waited long enough.
func (h *Hub) saveLoop() {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case s := <-h.saves:
			h.save(s)
		case <-t.C:
			for _, s := range h.list() {
				if s.saveDue() && h.ctx.Err() == nil {
					h.save(s)
				}
			}
		case <-h.ctx.Done():
			return
		}
	}
}

// saveDue reports whether something has waited for the store long enough.
func (s *session) saveDue() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.unsavedAt.IsZero() && s.hub.cfg.Now().Sub(s.unsavedAt) >= s.hub.cfg.PersistInterval
}

// saveSoon asks for a session to be saved without waiting for it. If the queue
// is full, saveLoop's ticker does it later.
func (h *Hub) saveSoon(s *session) {
	select {
	case h.saves <- s:
	default:
	}
}

// save writes a session to the store. A failure shows in the status and is
// retried after the interval: transcription never stops for it.
func (h *Hub) save(s *session) {
	ctx, cancel := context.WithTimeout(h.ctx, saveTimeout)
	defer cancel()
	if err := s.save(ctx); err != nil {
		if h.ctx.Err() == nil {
			h.cfg.Log.Warn("store failed; the journal keeps the session", "session", s.id, "err", err)
		}
		return
	}
	if err := s.retryForget(h.ctx); err != nil && h.ctx.Err() == nil {
		h.cfg.Log.Warn("forgotten words are not deleted everywhere yet", "session", s.id, "err", err)
	}
	s.removeIfSaved()
}

// holdSaving keeps everybody else from writing the session to the store until
// release is called.
func (s *session) holdSaving(ctx context.Context) (release func(), err error) {
	select {
	case s.saving <- struct{}{}:
		return func() { <-s.saving }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// save brings the store up to date.
func (s *session) save(ctx context.Context) error {
	release, err := s.holdSaving(ctx)
	if err != nil {
		return err
	}
	defer release()
	for {
		s.mu.Lock()
		if s.phase == gone {
			s.mu.Unlock()
			return nil
		}
		info := s.snapshotLocked()
		from, _ := findLine(s.segments, s.saved+1)
		batch := slices.Clone(s.segments[from:min(from+saveBatch, len(s.segments))])
		s.mu.Unlock()
		for i := range batch {
			batch[i].Durable = true
		}

		s.hub.cfg.Fault("persist")
		err := s.hub.cfg.Store.Save(ctx, &info, batch)
		s.hub.dropCaches()
		s.hub.cfg.Fault("persisted")
		if s.saveDone(info, batch, err) || err != nil {
			return err
		}
	}
}

// saveDone records the result of a write to the store and reports whether
// nothing is left to write.
func (s *session) saveDone(info hearken.Session, batch []hearken.Segment, err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saveErr = err
	if err != nil {
		s.unsavedAt = s.hub.cfg.Now() // retry an interval from now
		return false
	}
	if len(batch) == saveBatch {
		s.saved = max(s.saved, batch[saveBatch-1].Line)
	} else {
		s.saved = max(s.saved, info.SegmentCount) // forgotten lines count as well
	}
	if s.saved < s.info.SegmentCount || info.Status != s.info.Status || info.Title != s.info.Title {
		return false // there is something new
	}
	s.unsavedAt = time.Time{}
	return true
}

// findLine returns the index of the first entry at or after line, and whether
// it is exactly that line.
func findLine(segments []hearken.Segment, line int) (int, bool) {
	return slices.BinarySearchFunc(segments, line, func(s hearken.Segment, l int) int { return s.Line - l })
}

// watchLoop stops sessions whose sender never came or did not return, and
// deletes those past their retention.
func (h *Hub) watchLoop() {
	var swept time.Time
	h.every(time.Second, func() {
		for _, s := range h.list() {
			s.watch()
			if reason := s.abandonedReason(); reason != "" {
				if err := h.finish(s, reason); err == nil {
					h.cfg.Log.Info("session stopped", "session", s.id, "reason", reason)
				}
			}
		}
		if now := h.cfg.Now(); h.cfg.Retention > 0 && now.Sub(swept) > time.Hour {
			swept = now
			h.expire(now.Add(-h.cfg.Retention))
		}
	})
}

// watch checks on a session's engines.
func (s *session) watch() {
	s.mu.Lock()
	channels, backlog := s.channels, s.backlogChannel
	s.mu.Unlock()
	now := s.hub.cfg.Now()
	for _, c := range channels {
		c.watch(now)
	}
	if backlog != nil {
		backlog.watch(now)
	}
}

// abandonedReason returns the reason to stop a session that has waited too long for a
// sender, or "".
func (s *session) abandonedReason() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase != running || s.input != nil {
		return ""
	}
	waited := s.hub.cfg.Now().Sub(s.noSenderSince)
	switch {
	case s.clock.IsZero() && waited > s.hub.cfg.ArriveWithin:
		return hearken.StopNoAudio
	case !s.clock.IsZero() && waited > s.hub.cfg.ReturnWithin:
		return hearken.StopSenderGone
	}
	return ""
}
