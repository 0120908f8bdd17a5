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

// A microphone is switched on by a person or an agent that asks for it, and
// never by a hub alone. So a capture ends with its hub, but for one case: a hub
// that an agent started makes room for one that a person starts. Then it leaves
// word in a file, and the next hub, if it comes soon, goes on in the same
// session. What was said in between is a gap that the transcript shows.

// handoverWithin is how old such a word may be. After as long, the hub ends a
// session whose sender has not returned.
const handoverWithin = time.Minute

// A handover is what one hub leaves to the next.
type handover struct {
	Session string    `json:"session"`
	Left    time.Time `json:"left"` // when the sound ended
}

// HandOver says that another hub follows: what is captured when the scribe is
// closed goes on there.
func (s *Scribe) HandOver() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leaving = s.cfg.Handover != ""
}

// leave leaves a session to the next hub, if there will be one.
func (s *Scribe) leave(p *place) bool {
	s.mu.Lock()
	leaving := s.leaving && s.ctx.Err() != nil // and not because of Stop
	s.mu.Unlock()
	if !leaving {
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

// Resume goes on with the capture that an earlier hub has left to this one, if
// there is one. It does not wait for the sound; whoever asks for the scribe's
// state does. It is called once, before anything else.
func (s *Scribe) Resume() {
	if s.cfg.Handover == "" {
		return
	}
	word, err := os.ReadFile(s.cfg.Handover)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	os.Remove(s.cfg.Handover) // once, whatever becomes of it
	var h handover
	if err == nil {
		err = json.Unmarshal(word, &h)
	}
	if age := s.cfg.Now().Sub(h.Left); err != nil || age > handoverWithin || age < 0 {
		s.cfg.Log.Info("an earlier hub's capture is over", "session", h.Session, "error", err)
		return
	}
	s.turn <- struct{}{}
	s.resumed = make(chan struct{})
	s.work.Go(func() {
		defer close(s.resumed)
		defer func() { <-s.turn }()
		if err := s.resume(s.ctx, h); err != nil {
			s.cfg.Log.Warn("capture does not go on in this hub", "session", h.Session, "error", err)
			s.mu.Lock()
			s.last, s.trouble = h.Session, "The capture ended when the hub changed: "+err.Error()
			s.mu.Unlock()
		}
	})
}

// resume takes up the sound of a session that waits for it.
func (s *Scribe) resume(ctx context.Context, h handover) error {
	about, err := s.cfg.Hub.Status(ctx, h.Session)
	if err != nil {
		return err
	}
	if !about.Session.Config.Capture || about.Session.Principal != s.cfg.Principal {
		return hearken.Errorf(hearken.Forbidden, "Session %s is not a capture of this computer.", h.Session)
	}
	sound, err := s.cfg.Capture(ctx)
	if err != nil {
		return noSound(err)
	}
	in, err := s.cfg.Hub.Attach(context.WithoutCancel(ctx), h.Session, s.cfg.Principal)
	if err != nil {
		return err
	}
	p := newPlace(&about.Session, in)
	p.unheard = h.Left
	s.run(sound, p)
	s.cfg.Log.Info("capture goes on in this hub", "session", h.Session)
	return nil
}

// A skipper lets a session's clock go on over what nobody heard; see
// [live.Hub.Attach], whose inputs do.
type skipper interface {
	Skip(d time.Duration, why string) error
}

// pass lets the clock of a session that comes from another hub go on to the
// moment of the first samples that this one has for it.
func (c *capture) pass(p *place, samples int) error {
	if p.unheard.IsZero() {
		return nil
	}
	missed := c.scribe.cfg.Now().Sub(p.unheard) - time.Duration(samples)*time.Second/hearken.SampleRate
	p.unheard = time.Time{}
	if in, ok := p.input.(skipper); ok {
		return in.Skip(missed, "the hub was changed")
	}
	return nil
}
