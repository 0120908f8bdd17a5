package scribe

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/hearken-dev/hearken"
)

// A hub never switches a microphone on by itself, so a capture ends with its
// hub. There is one exception: a hub that an agent started gives way to one
// that a person starts. It then writes a handover file, and the next hub, if it
// starts soon, continues the same session. The time in between is a gap in the
// transcript.

// handoverMaxAge is how old a handover may be: after this time the hub stops a
// session whose sender has not returned.
const handoverMaxAge = time.Minute

// A handover is what one hub leaves to the next.
type handover struct {
	Session string    `json:"session"`
	Left    time.Time `json:"left"` // when the audio ended
}

// HandOver announces that another hub follows: it continues the capture that is
// running when the scribe is closed.
func (s *Scribe) HandOver() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handingOver = s.cfg.Handover != ""
}

// leaveToNextHub hands a session over to the next hub, if one follows. It reports whether
// it did.
func (s *Scribe) leaveToNextHub(p *destination) bool {
	s.mu.Lock()
	handingOver := s.handingOver && s.ctx.Err() != nil // and not because of Stop
	s.mu.Unlock()
	if !handingOver {
		return false
	}
	word, err := json.Marshal(handover{Session: p.session, Left: s.cfg.Now()})
	if err == nil {
		err = os.WriteFile(s.cfg.Handover, word, 0o600)
	}
	if err != nil {
		s.cfg.Log.Warn("capture not left to the next hub", "session", p.session, "error", err)
		return false
	}
	p.input.Detach()
	s.cfg.Log.Info("capture left to the next hub", "session", p.session)
	return true
}

// Resume continues a capture that an earlier hub handed over, if there is one.
// It does not wait for the audio; Status does. Call it once, before anything
// else.
func (s *Scribe) Resume() {
	if s.cfg.Handover == "" {
		return
	}
	word, err := os.ReadFile(s.cfg.Handover)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	os.Remove(s.cfg.Handover) // use it only once
	var h handover
	if err == nil {
		err = json.Unmarshal(word, &h)
	}
	if age := s.cfg.Now().Sub(h.Left); err != nil || age > handoverMaxAge || age < 0 {
		s.cfg.Log.Info("an earlier hub's capture is over", "session", h.Session, "error", err)
		return
	}
	s.stateLock <- struct{}{}
	s.resumed = make(chan struct{})
	s.work.Go(func() {
		defer close(s.resumed)
		defer func() { <-s.stateLock }()
		if err := s.resume(s.ctx, h); err != nil {
			s.cfg.Log.Warn("capture not continued", "session", h.Session, "error", err)
			s.mu.Lock()
			s.last, s.failure = h.Session, "The capture ended when the hub changed: "+err.Error()
			s.mu.Unlock()
		}
	})
}

// resume sends audio to a session that waits for it.
func (s *Scribe) resume(ctx context.Context, h handover) error {
	about, err := s.cfg.Hub.Status(ctx, h.Session)
	if err != nil {
		return err
	}
	if !about.Session.Config.Capture || about.Session.Principal != s.cfg.Principal {
		return hearken.Errorf(hearken.Forbidden, "Session %s is not a capture of this computer.", h.Session)
	}
	audio, err := s.cfg.Capture(ctx)
	if err != nil {
		return captureError(err)
	}
	in, err := s.cfg.Hub.Attach(context.WithoutCancel(ctx), h.Session, s.cfg.Principal)
	if err != nil {
		return err
	}
	p := newDestination(&about.Session, in)
	p.silentSince = h.Left
	s.run(audio, p)
	s.cfg.Log.Info("capture continued", "session", h.Session)
	return nil
}

// skipMissed advances the clock of a session from an earlier hub to the first
// samples of this one.
func (c *capture) skipMissed(p *destination, samples int) error {
	if p.silentSince.IsZero() {
		return nil
	}
	missed := c.scribe.cfg.Now().Sub(p.silentSince) - time.Duration(samples)*time.Second/hearken.SampleRate
	p.silentSince = time.Time{}
	return p.input.Skip(missed, "the hub was changed")
}
