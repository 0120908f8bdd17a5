package live

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/hearken-dev/hearken"
)

// Stop drains a session and ends it. The session's words are complete when it
// returns.
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
		return nil, hearken.Errorf(hearken.Busy, "session %s is still taking in its last words: %w.", id, ctx.Err()).
			WithTry("get_session_status in a moment")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	info := s.snapshotLocked()
	return &info, nil
}

// finish begins to end a session: no more sound, then the last words, then the
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

// complete waits for a finishing session's last words and makes it stopped.
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
			if from, to := c.through.Load(), c.spool.end(); to > from {
				s.note(hearken.EventGap, seconds(from), seconds(to), "[gap: the last %.1f s of audio was not transcribed in time]", seconds(to-from))
			}
		}
	}
	after, missed := s.settle()
	s.mu.Lock()
	if s.phase == gone {
		s.mu.Unlock()
		return
	}
	now := h.cfg.Now().UTC()
	s.info.Duration = s.heardLocked()
	s.phase = after
	if missed {
		reason = hearken.StopProviderFailed // whoever asked for it, its last words are missing
	}
	s.info.Status, s.info.StoppedAt, s.info.StopReason = hearken.Stopped, &now, reason
	clear(s.interim)
	s.journal.post(s.headLocked())
	s.dirtyLocked()
	s.changedLocked()
	if s.input != nil {
		s.input.end(hearken.InputEvent{Kind: hearken.InputClosed, Reason: reason})
	}
	close(s.stopped)
	s.mu.Unlock()
	h.save(s)
	s.clear() // a debt may have been paid in between
}

// settle notes what no engine has heard of a session that takes no more sound,
// and tells what follows, and whether its last words are missing. If nothing is
// owed, the sound is let go.
func (s *session) settle() (after phase, missed bool) {
	s.mu.Lock()
	channels := s.channels
	for _, c := range channels {
		if from, to := c.through.Load(), c.spool.end(); to > from && s.phase != gone {
			s.oweLocked(c.origin, c.unheard(), to)
			missed = true
		}
	}
	owes := len(s.debts) > 0
	s.mu.Unlock()
	if owes {
		return owing, missed
	}
	s.removeSpools(channels)
	return ended, missed
}

// drain asks a session's engines for what they hold and waits until they have
// given it or ctx ends. The session stays as it is.
func (s *session) drain(ctx context.Context) {
	s.mu.Lock()
	if s.phase == running {
		s.phase = finishing // takes no more sound; the journal still says active
	}
	channels := s.channels
	if s.input != nil {
		defer s.input.end(hearken.InputEvent{Kind: hearken.InputClosed, Reason: hearken.StopShutdown})
	}
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

// close saves a session for the last time in this hub and lets go of its
// files.
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
	var errs []error
	if err := s.save(ctx); err != nil {
		s.hub.cfg.Log.Warn("session not saved; the journal has it", "session", s.id, "err", err)
	} else if s.retired() {
		return nil
	}
	for _, c := range channels {
		errs = append(errs, c.spool.close())
	}
	return errors.Join(append(errs, s.journal.close())...)
}

// retired removes what a stopped and saved session leaves in the hub, and
// tells whether it did.
func (s *session) retired() bool {
	s.saving <- struct{}{} // whoever forgets or deletes is done first
	defer func() { <-s.saving }()
	s.mu.Lock()
	done := s.phase == ended && s.saved >= s.info.SegmentCount && s.unsavedAt.IsZero()
	s.mu.Unlock()
	if !done {
		return false
	}
	s.hub.forgetSession(s)
	if err := errors.Join(s.journal.remove(), os.RemoveAll(filepath.Join(s.hub.spoolDir(), s.id))); err != nil {
		s.hub.cfg.Log.Warn("journal not removed", "session", s.id, "err", err)
	}
	return true
}

// forgetSession takes a session out of the hub's hands. Its ticket is
// remembered for a while, so that a sender that comes too late learns that the
// session has stopped, and not that its ticket was wrong.
func (h *Hub) forgetSession(s *session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.sessions, s.id)
	if len(h.tickets) >= ticketsKept {
		clear(h.tickets)
	}
	h.tickets[s.id] = s.ticket
}

// ticketsKept is how many tickets of stopped sessions are remembered.
const ticketsKept = 1024
