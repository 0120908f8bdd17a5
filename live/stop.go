package live

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/hearken-dev/hearken"
)

// Stop ends a session and waits for its last words.
func (h *Hub) Stop(ctx context.Context, id string) (*hearken.Session, error) {
	s, err := h.active(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := h.finish(s, hearken.StopRequested); err != nil {
		return nil, err
	}
	select {
	case <-s.stopped:
	case <-ctx.Done():
		return nil, hearken.Errorf(hearken.Busy, "session %s is still transcribing its last words: %w.", id, ctx.Err()).
			WithTry("get_session_status in a moment")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return new(s.snapshotLocked()), nil
}

// finish begins to stop a session: no more audio, then the last words, then the
// store. It does not wait.
func (h *Hub) finish(s *session, reason string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase != running {
		return alreadyStopped(s.id)
	}
	if h.closed {
		return hearken.Errorf(hearken.Busy, "the hub is shutting down.")
	}
	s.phase = finishing
	for _, c := range s.channels {
		c.finish.Store(true)
		c.nudge()
	}
	h.work.Go(func() { h.complete(s, reason) })
	return nil
}

// complete waits for a finishing session's last words and stops it.
func (h *Hub) complete(s *session, reason string) {
	ctx, cancel := context.WithTimeout(h.ctx, h.cfg.DrainWithin)
	defer cancel()
	for _, c := range s.channels { // no more are added once it is finishing
		select {
		case <-c.done:
		case <-ctx.Done():
			if h.ctx.Err() != nil {
				return // the next hub drains it
			}
			c.cancel()
			<-c.done
			if from, to := c.finalUntil.Load(), c.spool.end(); to > from {
				s.addEvent(hearken.EventGap, seconds(from), seconds(to), "[gap: the last %.1f s of audio was not transcribed in time]", seconds(to-from))
			}
		}
	}
	next, missed := s.queueUntranscribed()
	s.mu.Lock()
	if s.phase == gone {
		s.mu.Unlock()
		return
	}
	now := h.cfg.Now().UTC()
	s.info.Duration = s.durationLocked()
	s.phase = next
	if missed {
		reason = hearken.StopProviderFailed // whoever stopped it, its last words are missing
	}
	s.info.Status, s.info.StoppedAt, s.info.StopReason = hearken.Stopped, &now, reason
	clear(s.interim)
	s.journal.enqueue(s.headLocked())
	s.markUnsavedLocked()
	s.wakeReadersLocked()
	s.input.end(hearken.InputEvent{Kind: hearken.InputClosed, Reason: reason})
	close(s.stopped)
	s.mu.Unlock()
	h.save(s)
	s.endIfComplete() // the backlog may be done meanwhile
}

// queueUntranscribed adds what no engine has transcribed of a finishing session
// to the backlog. It returns the next phase and whether the last words are
// missing. Without a backlog it removes the audio.
func (s *session) queueUntranscribed() (next phase, missed bool) {
	s.mu.Lock()
	channels := s.channels
	for _, c := range channels {
		if from, to := c.finalUntil.Load(), c.spool.end(); to > from && s.phase != gone {
			s.addBacklogLocked(c.origin, c.replayFrom(), to)
			missed = true
		}
	}
	hasBacklog := len(s.backlog) > 0
	s.mu.Unlock()
	if hasBacklog {
		return backlogged, missed
	}
	s.removeSpools(channels)
	return ended, missed
}

// drain asks a session's engines for their last words and waits for them or for
// ctx. The session stays active.
func (s *session) drain(ctx context.Context) {
	s.mu.Lock()
	if s.phase == running {
		s.phase = finishing // takes no more audio; the journal still says active
	}
	channels := s.channels
	defer s.input.end(hearken.InputEvent{Kind: hearken.InputClosed, Reason: hearken.StopShutdown})
	s.mu.Unlock()
	for _, c := range channels {
		c.finish.Store(true)
		c.nudge()
	}
	for _, c := range channels {
		select {
		case <-c.done:
		case <-ctx.Done():
			return
		}
	}
}

// close saves a session when the hub closes and closes its files.
func (s *session) close(ctx context.Context) error {
	s.mu.Lock()
	channels, dead := s.channels, s.phase == gone
	s.mu.Unlock()
	if dead {
		return nil
	}
	for _, c := range channels {
		c.cancel()
		<-c.done
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	if err := s.save(ctx); err != nil {
		s.hub.cfg.Log.Warn("session not saved; the journal has it", "session", s.id, "err", err)
	} else if s.removeIfSaved() {
		return nil
	}
	err := s.journal.close()
	for _, c := range channels {
		err = errors.Join(err, c.spool.close())
	}
	return err
}

// removeIfSaved removes a stopped and saved session from the hub and reports
// whether it did.
func (s *session) removeIfSaved() bool {
	s.saving <- struct{}{} // a running Forget or Delete ends first
	defer func() { <-s.saving }()
	s.mu.Lock()
	done := s.phase == ended && s.saved >= s.info.SegmentCount && s.unsavedAt.IsZero() && len(s.toForget) == 0
	s.mu.Unlock()
	if !done {
		return false
	}
	s.hub.dropSession(s)
	if err := errors.Join(s.journal.remove(), os.RemoveAll(filepath.Join(s.hub.spoolDir(), s.id))); err != nil {
		s.hub.cfg.Log.Warn("journal not removed", "session", s.id, "err", err)
	}
	return true
}

// dropSession removes a session from the hub's memory. Its ticket is remembered
// for a while, so that a late sender learns that the session has stopped, and
// not that its ticket is wrong.
func (h *Hub) dropSession(s *session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.sessions, s.id)
	if len(h.tickets) >= maxOldTickets {
		clear(h.tickets)
	}
	h.tickets[s.id] = s.ticket
}

// maxOldTickets is how many tickets of stopped sessions are remembered.
const maxOldTickets = 1024
