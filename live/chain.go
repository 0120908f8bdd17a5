package live

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
)

const (
	// probeTimeout is how long an engine may take to answer a probe.
	probeTimeout = 15 * time.Second
	// maxReturnWait is the longest time between two probes of an engine that
	// failed.
	maxReturnWait = 10 * time.Minute
	// maxAdvisedWait is the longest Retry-After that the hub respects when
	// another engine could take over.
	maxAdvisedWait = 10 * time.Second
)

// chainOf returns the engines of a session that asks for one name, several
// separated by commas, or none. A single name from the hub's own chain is
// followed by those that follow it there. This computer's own audio goes to no
// engine that was not named for it.
func (h *Hub) chainOf(req hearken.StartRequest) ([]string, error) {
	names := splitNames(req.Provider)
	switch {
	case req.Capture && len(names) == 0:
		names = slices.Clone(h.cfg.Captures)
	case req.Capture:
	case len(names) == 0:
		names = slices.Clone(h.cfg.Chain)
	case len(names) == 1:
		if i := slices.Index(h.cfg.Chain, names[0]); i >= 0 {
			names = slices.Clone(h.cfg.Chain[i:])
		}
	}
	for i, name := range names {
		if h.provider(name) == nil {
			return nil, h.noProvider(name)
		}
		if slices.Contains(names[:i], name) {
			return nil, hearken.Errorf(hearken.Invalid, "the provider %q is named twice.", name)
		}
	}
	return names, nil
}

// splitNames splits a list of engines.
func splitNames(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// chooseEngine picks the first engine that can serve the new session. Refused
// is what the preferred engine said if it is another one. If none can, that is
// also the error.
func (s *session) chooseEngine(ctx context.Context) (refused error, err error) {
	for i, name := range s.engines {
		err := s.hub.provider(name).Check(ctx, s.streamConfig(name, hearken.Microphone, 0))
		if err == nil {
			s.engine = i // s is not shared yet
			return refused, nil
		}
		if refused == nil {
			refused = err
		}
	}
	return refused, refused
}

// currentEngine is the name of the engine that the session uses now.
func (s *session) currentEngine() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.engines[s.engine]
}

// hasNextEngine reports whether another engine could take over.
func (s *session) hasNextEngine() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.engine < len(s.engines)-1
}

// failOver switches to the next engine that can serve the session and reports
// whether there is one. If both channels fail, the first call decides.
func (s *session) failOver(ctx context.Context, from string, at float64, why error) bool {
	s.mu.Lock()
	was := s.engine
	s.mu.Unlock()
	if s.engines[was] != from {
		return true
	}
	for i := was + 1; i < len(s.engines); i++ {
		next := s.engines[i]
		p := s.hub.provider(next)
		if p == nil || p.Check(ctx, s.streamConfig(next, hearken.Microphone, 0)) != nil {
			continue
		}
		s.mu.Lock()
		moved := s.engine == was
		if moved {
			s.engine = i
		}
		s.mu.Unlock()
		if moved {
			s.addEvent(hearken.EventFailover, at, at, "[%s failed: %s Continuing with %s.]", from, reason(why), next)
			s.hub.cfg.Log.Warn("provider replaced", "session", s.id, "from", from, "to", next)
			s.startReturning()
		}
		return true
	}
	return false
}

// reason returns an error as one sentence for a transcript.
func reason(err error) string {
	if e, ok := errors.AsType[*hearken.Error](err); ok {
		return e.Message
	}
	return err.Error() + "."
}

// startReturning begins to probe the preferred engine, if the hub is configured
// to return to it.
func (s *session) startReturning() {
	h := s.hub
	if h.cfg.ReturnAfter <= 0 {
		return
	}
	s.mu.Lock()
	busy := s.returning
	s.returning = true
	// The sooner it fails again after a return, the less often it is probed.
	if s.returnWait == 0 || h.cfg.Now().Sub(s.returnedAt) > maxReturnWait {
		s.returnWait = h.cfg.ReturnAfter
	}
	s.mu.Unlock()
	if !busy {
		h.background(s.returnToPreferred)
	}
}

// returnToPreferred probes the preferred engine until it answers and then
// switches back to it.
func (s *session) returnToPreferred() {
	for {
		s.mu.Lock()
		wait := jitter(s.returnWait)
		s.returnWait = min(2*s.returnWait, max(maxReturnWait, s.hub.cfg.ReturnAfter))
		s.mu.Unlock()
		if !s.sleep(wait) {
			return
		}
		if err := s.hub.probe(s.engines[0], s.streamConfig(s.engines[0], hearken.Microphone, 0)); err == nil {
			break
		}
	}
	s.mu.Lock()
	s.engine, s.returning, s.returnedAt = 0, false, s.hub.cfg.Now()
	channels, at := s.channels, s.durationLocked()
	s.mu.Unlock()
	s.addEvent(hearken.EventFailover, at, at, "[%s works again. Continuing with it.]", s.engines[0])
	for _, c := range channels {
		c.rollOver()
	}
}

// sleep waits and reports whether the session is still running then.
func (s *session) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-s.stopped:
	case <-s.hub.closing:
	case <-s.hub.ctx.Done():
	}
	return false
}

// probe reports whether an engine would answer now.
func (h *Hub) probe(name string, cfg hearken.StreamConfig) error {
	ctx, cancel := context.WithTimeout(h.ctx, probeTimeout)
	defer cancel()
	p := h.provider(name)
	if p == nil {
		return h.noProvider(name)
	}
	if err := p.Check(ctx, cfg); err != nil {
		return err
	}
	if probe := p.Capabilities().Probe; probe != nil {
		return probe(ctx, cfg)
	}
	st, err := p.Open(ctx, cfg)
	if err != nil {
		return err
	}
	cancel()
	for range st.Events() { // no audio was sent
	}
	return nil
}

// background runs do in a goroutine that Close waits for.
func (h *Hub) background(do func()) {
	h.mu.RLock() // nothing starts after Close has begun to wait
	defer h.mu.RUnlock()
	if !h.closed {
		h.work.Go(do)
	}
}
