package act_test

import (
	"context"
	"sync"
	"time"
)

// calls are the sessions with live audio.
type calls struct {
	mu   sync.Mutex
	all  map[string]*liveCall
	last time.Time // the last audio of all, deleted sessions included
}

// A liveCall is one session.
type liveCall struct {
	active, sounding bool
	last             time.Time // while it is not sounding
}

func newCalls() *calls { return &calls{all: map[string]*liveCall{}} }

// sound starts a session's audio, which then goes on.
func (c *calls) sound(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all[id] = &liveCall{active: true, sounding: true}
}

// hush ends the audio of a session, which stays active.
func (c *calls) hush(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.all[id]; s != nil && s.sounding {
		s.sounding, s.last, c.last = false, time.Now(), time.Now()
	}
}

// stop ends a session.
func (c *calls) stop(id string) {
	c.hush(id)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all[id].active = false
}

// remove deletes a session.
func (c *calls) remove(id string) {
	c.hush(id)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, id)
}

// restart is what a new hub knows: the sessions that are stored, and that the
// audio of active ones may have gone on until now.
func (c *calls) restart() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = time.Time{}
	for _, s := range c.all {
		if s.active {
			s.sounding, s.last = false, time.Now()
		}
		if s.last.After(c.last) {
			c.last = s.last
		}
	}
}

func (c *calls) LastAudio() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	last := c.last
	for _, s := range c.all {
		if s.sounding {
			last = time.Now()
		}
	}
	return last
}

func (c *calls) LiveSession() (id string, last time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, s := range c.all {
		if at := s.lastAudio(); s.active && at.After(last) {
			id, last = name, at
		}
	}
	return id, last
}

func (c *calls) AudioEnd(_ context.Context, id string) (last time.Time, active bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.all[id]
	if s == nil {
		return time.Time{}, false
	}
	return s.lastAudio(), s.active
}

func (s *liveCall) lastAudio() time.Time {
	if s.sounding {
		return time.Now()
	}
	return s.last
}
