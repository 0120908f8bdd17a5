package scribe

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
)

// deviceStopTimeout is how long a device may take to stop.
const deviceStopTimeout = 2 * time.Second

// A capture feeds this computer's audio into one session after another.
type capture struct {
	scribe *Scribe
	audio  hearken.Capture
	cancel context.CancelFunc
	done   chan struct{} // closed when the audio has ended and the session is finished

	// mu is held while audio is delivered, so that a switch to another session
	// happens between two samples.
	mu    sync.Mutex
	dest  *destination
	ended bool   // accepts no more audio
	lost  string // why the session ended during the capture
}

// A destination is the session that receives the audio.
type destination struct {
	session     string
	since       time.Time
	request     hearken.CaptureRequest // how it is transcribed; empty if an earlier hub started it
	input       hearken.Input
	described   bool
	silentSince time.Time     // when audio stopped in an earlier hub; zero once caught up
	complete    chan struct{} // closed when the session has all its words
}

func newDestination(info *hearken.Session, in hearken.Input) *destination {
	return &destination{session: info.ID, since: info.StartedAt, input: in, complete: make(chan struct{})}
}

var errEnded = errors.New("the capture has ended")

// run delivers audio until it ends, and then finishes the session.
func (c *capture) run(ctx context.Context) {
	defer close(c.done)
	defer c.cancel()
	err := c.audio.Run(ctx, c.deliver)
	why := c.finishOrHandOver()
	if why == "" && ctx.Err() == nil {
		why = "The capture ended unexpectedly."
		if err != nil {
			why = "The capture ended: " + captureError(err).Error()
		}
	}
	c.scribe.captureEnded(c, why)
}

// deliver writes audio to the current session.
func (c *capture) deliver(channels ...[]int16) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return errEnded
	}
	p := c.dest
	if !p.described {
		if err := p.input.Describe("linear16", hearken.SampleRate, len(channels)); err != nil {
			return err
		}
		p.described = true
		if err := c.skipMissed(p, len(channels[0])); err != nil {
			return err
		}
	}
	return p.input.Write(channels...)
}

// finishOrHandOver finishes the current session, or leaves it to the next hub. It returns
// why the session ended early, if it did.
func (c *capture) finishOrHandOver() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.ended = true
		if c.scribe.leaveToNextHub(c.dest) {
			return c.lost
		}
		// Nothing to do if the session stopped before its audio did.
		if err := c.dest.input.Finish(); err != nil {
			c.scribe.cfg.Log.Debug("capture's session had ended", "session", c.dest.session, "error", err)
		}
	}
	return c.lost
}

// stop ends the audio and returns the session that gets its last words.
func (c *capture) stop() *destination {
	c.cancel()
	timer := time.NewTimer(deviceStopTimeout)
	defer timer.Stop()
	select {
	case <-c.done:
	case <-timer.C: // a device that hangs must not keep the session open
		c.finishOrHandOver()
		c.scribe.captureEnded(c, "")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dest
}

// nextRequest returns how to transcribe the session that follows: as req says,
// and otherwise as the current one.
func (c *capture) nextRequest(req hearken.CaptureRequest) hearken.CaptureRequest {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.dest.request
	if req.Provider == "" {
		req.Provider, req.APIKey = now.Provider, now.APIKey
	}
	req.Language = cmp.Or(req.Language, now.Language)
	return req
}

// switchTo sends audio to another session from the next sample on. It finishes
// and returns the previous one.
func (c *capture) switchTo(next *destination) *destination {
	c.mu.Lock()
	old := c.dest
	c.dest = next
	ended := c.ended
	c.mu.Unlock()
	go c.watch(next)
	finish := old
	if ended { // the capture has just ended: the new session gets no audio
		finish = next
	} else {
		c.scribe.mu.Lock()
		c.scribe.last = next.session
		c.scribe.mu.Unlock()
	}
	if err := finish.input.Finish(); err != nil {
		c.scribe.cfg.Log.Debug("capture's session had ended", "session", finish.session, "error", err)
	}
	return old
}

// watch cancels the capture when its session ends.
func (c *capture) watch(p *destination) {
	var last hearken.InputEvent
	for ev := range p.input.Events() {
		last = ev
	}
	close(p.complete)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dest == p && !c.ended {
		c.lost = lostBecause(last)
		c.cancel()
	}
}

// lostBecause explains why a session ended during a capture.
func lostBecause(last hearken.InputEvent) string {
	switch {
	case last.Kind == hearken.InputReplaced:
		return "The capture ended: another sender took over its session."
	case last.Reason == hearken.StopProviderFailed:
		return "The capture ended: the speech engine failed."
	case last.Reason == hearken.StopShutdown:
		return "The capture ended because the hub stopped."
	}
	return "The capture ended: its session was stopped."
}

// captureEnded clears the state after a capture.
func (s *Scribe) captureEnded(c *capture, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running != c {
		return
	}
	s.running, s.failure = nil, why
	if why != "" {
		s.cfg.Log.Warn("capture ended unexpectedly", "session", s.last, "why", why)
	}
}
