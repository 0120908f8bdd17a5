package scribe

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
)

// leaveWithin is how long a device may take to let go of its sound.
const leaveWithin = 2 * time.Second

// A capture is this computer's sound on its way into one session after
// another.
type capture struct {
	scribe *Scribe
	sound  hearken.Capture
	cancel context.CancelFunc
	done   chan struct{} // closed when the sound has ended and its session knows

	// mu is held while sound is handed over, so that a switch to another
	// session falls between two samples.
	mu    sync.Mutex
	place *place
	ended bool   // takes no more sound
	lost  string // why the session ended under it
}

// A place is a session that sound goes to.
type place struct {
	session   string
	since     time.Time
	input     hearken.Input
	described bool
	unheard   time.Time     // since when nobody has heard anything; zero if somebody has
	complete  chan struct{} // closed when the session has its last words
}

func newPlace(info *hearken.Session, in hearken.Input) *place {
	return &place{session: info.ID, since: info.StartedAt, input: in, complete: make(chan struct{})}
}

var errEnded = errors.New("the capture has ended")

// run takes sound until it ends, and then ends its session.
func (c *capture) run(ctx context.Context) {
	defer close(c.done)
	defer c.cancel()
	err := c.sound.Run(ctx, c.deliver)
	why := c.leave()
	if why == "" && ctx.Err() == nil {
		why = "The capture ended by itself."
		if err != nil {
			why = "The capture ended: " + noSound(err).Error()
		}
	}
	c.scribe.forget(c, why)
}

// deliver hands sound to the session of now.
func (c *capture) deliver(channels ...[]int16) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return errEnded
	}
	p := c.place
	if !p.described {
		if err := p.input.Describe("linear16", hearken.SampleRate, len(channels)); err != nil {
			return err
		}
		p.described = true
		if err := c.pass(p, len(channels[0])); err != nil {
			return err
		}
	}
	return p.input.Write(channels...)
}

// leave finishes the session of now and tells why it was lost, if it was.
func (c *capture) leave() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.ended = true
		if c.scribe.leave(c.place) {
			return c.lost
		}
		// If the session stopped before its sound did, there is nothing to do.
		if err := c.place.input.Finish(); err != nil {
			c.scribe.cfg.Log.Debug("capture's session had ended", "session", c.place.session, "error", err)
		}
	}
	return c.lost
}

// end stops the sound and returns the place where its last words come.
func (c *capture) end() *place {
	c.cancel()
	timer := time.NewTimer(leaveWithin)
	defer timer.Stop()
	select {
	case <-c.done:
	case <-timer.C: // a device that hangs must not keep the session open
		c.leave()
		c.scribe.forget(c, "")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.place
}

// turnOver gives the sound from the next sample on to another session and
// finishes the one before, which it returns.
func (c *capture) turnOver(next *place) *place {
	c.mu.Lock()
	old := c.place
	c.place = next
	ended := c.ended
	c.mu.Unlock()
	go c.watch(next)
	finish := old
	if ended { // just now: the new session gets no sound
		finish = next
	} else {
		c.scribe.remember(next.session)
	}
	if err := finish.input.Finish(); err != nil {
		c.scribe.cfg.Log.Debug("capture's session had ended", "session", finish.session, "error", err)
	}
	return old
}

// watch notices when a session ends under the capture.
func (c *capture) watch(p *place) {
	var last hearken.InputEvent
	for ev := range p.input.Events() {
		last = ev
	}
	close(p.complete)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.place == p && !c.ended {
		c.lost = lostBecause(last)
		c.cancel()
	}
}

// lostBecause says for people why a session ended although its sound did not.
func lostBecause(last hearken.InputEvent) string {
	switch {
	case last.Kind == hearken.InputReplaced:
		return "The capture ended: another sender took over its session."
	case last.Reason == hearken.StopProviderFailed:
		return "The capture ended: the speech engine failed."
	case last.Reason == hearken.StopShutdown:
		return "The capture ended with the hub."
	}
	return "The capture ended: its session was stopped."
}

// forget clears the state when a capture is over.
func (s *Scribe) forget(c *capture, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now != c {
		return
	}
	s.now, s.trouble = nil, why
	if why != "" {
		s.cfg.Log.Warn("capture ended by itself", "session", s.last, "why", why)
	}
}

func (s *Scribe) remember(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = session
}
