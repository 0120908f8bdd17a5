package live

import (
	"context"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
)

const (
	// flushEvery is how often sound goes from memory to the spool, and
	// journals to the platter.
	flushEvery = 250 * time.Millisecond
	// saveWithin is how long one write to the store may take.
	saveWithin = 10 * time.Second
	// saveBatch is how many entries one write to the store holds, so that
	// catching up after an outage is many short writes.
	saveBatch = 500
)

// every calls do at an interval until the hub ends.
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

// flushLoop takes sound from memory to the spool.
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

// syncLoop takes journals to the platter, apart from flushLoop because a sync
// may take long.
func (h *Hub) syncLoop() {
	h.every(flushEvery, func() {
		for _, s := range h.list() {
			s.journal.tick()
		}
	})
}

// saveLoop writes to the store what is due: so many segments, or what has
// waited for so long.
func (h *Hub) saveLoop() {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case s := <-h.saves:
			h.save(s)
		case <-t.C:
			for _, s := range h.list() {
				if s.due() && h.ctx.Err() == nil {
					h.save(s)
				}
			}
		case <-h.ctx.Done():
			return
		}
	}
}

// due tells whether something has waited for the store long enough.
func (s *session) due() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.unsavedAt.IsZero() && s.hub.cfg.Now().Sub(s.unsavedAt) >= s.hub.cfg.PersistInterval
}

// saveSoon asks for a session to be saved without waiting for it. If the line
// is full the interval sees to it.
func (h *Hub) saveSoon(s *session) {
	select {
	case h.saves <- s:
	default:
	}
}

// save writes a session to the store. A failure is told in the status and
// tried again after the interval: transcription never stops for it.
func (h *Hub) save(s *session) {
	ctx, cancel := context.WithTimeout(h.ctx, saveWithin)
	defer cancel()
	if err := s.save(ctx); err != nil {
		if h.ctx.Err() == nil {
			h.cfg.Log.Warn("store failed; the journal keeps the session", "session", s.id, "err", err)
		}
		return
	}
	s.retired()
}

// save brings the store up to date.
func (s *session) save(ctx context.Context) error {
	select {
	case s.saving <- struct{}{}:
		defer func() { <-s.saving }()
	case <-ctx.Done():
		return ctx.Err()
	}
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
		s.hub.changed()
		s.hub.cfg.Fault("persisted")
		if s.saveDone(info, batch, err) || err != nil {
			return err
		}
	}
}

// saveDone notes how a write to the store went and tells whether nothing is
// left to write.
func (s *session) saveDone(info hearken.Session, batch []hearken.Segment, err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saveErr = err
	if err != nil {
		s.unsavedAt = s.hub.cfg.Now() // tried again an interval from now
		return false
	}
	if len(batch) == saveBatch {
		s.saved = max(s.saved, batch[saveBatch-1].Line)
	} else {
		s.saved = max(s.saved, info.SegmentCount) // lines that were forgotten count as well
	}
	if s.saved < s.info.SegmentCount || info.Status != s.info.Status || info.Title != s.info.Title {
		return false // there is news since
	}
	s.unsavedAt = time.Time{}
	return true
}

// findLine returns the index of the first entry at or after line, and whether
// it is that very line.
func findLine(segments []hearken.Segment, line int) (int, bool) {
	return slices.BinarySearchFunc(segments, line, func(s hearken.Segment, l int) int { return s.Line - l })
}

// watchLoop ends sessions whose sender never came or does not come back, and
// those that are kept longer than wanted.
func (h *Hub) watchLoop() {
	var swept time.Time
	h.every(time.Second, func() {
		for _, s := range h.list() {
			s.watch()
			if reason := s.abandoned(); reason != "" {
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

// watch looks after a session's engines.
func (s *session) watch() {
	s.mu.Lock()
	channels, fill := s.channels, s.fill
	s.mu.Unlock()
	now := s.hub.cfg.Now()
	for _, c := range channels {
		c.watch(now)
	}
	if fill != nil {
		fill.watch(now)
	}
}

// abandoned is the reason to stop a session that waits for a sender in vain.
func (s *session) abandoned() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase != running || s.input != nil {
		return ""
	}
	waited := s.hub.cfg.Now().Sub(s.alone)
	switch {
	case s.clock.IsZero() && waited > s.hub.cfg.ArriveWithin:
		return hearken.StopNoAudio
	case !s.clock.IsZero() && waited > s.hub.cfg.ReturnWithin:
		return hearken.StopSenderGone
	}
	return ""
}
