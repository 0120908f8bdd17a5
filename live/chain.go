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
	// probeWithin is how long an engine may take to say that it is well.
	probeWithin = 15 * time.Second
	// maxReturnWait bounds how rarely an engine that failed is asked again.
	maxReturnWait = 10 * time.Minute
	// patienceWithNext is how long an engine that asks for patience gets it
	// when another one could go on.
	patienceWithNext = 10 * time.Second
)

// chainOf is the engines of a session that asks for wanted: a name, several
// with commas, or nothing. A name from the hub's own chain brings those that
// follow it there.
func (h *Hub) chainOf(wanted string) ([]string, error) {
	names := strings.FieldsFunc(wanted, func(r rune) bool { return r == ',' || r == ' ' })
	if len(names) == 0 {
		names = slices.Clone(h.cfg.Chain)
	} else if i := slices.Index(h.cfg.Chain, names[0]); len(names) == 1 && i >= 0 {
		names = slices.Clone(h.cfg.Chain[i:])
	}
	for i, name := range names {
		if h.provider(name) == nil {
			return nil, noProvider(name, h.providerNames())
		}
		if slices.Contains(names[:i], name) {
			return nil, hearken.Errorf(hearken.Invalid, "the provider %q is named twice.", name)
		}
	}
	return names, nil
}

func noProvider(name string, there []string) error {
	return hearken.Errorf(hearken.ProviderNotConfigured, "there is no provider %q here; there is %s.", name, strings.Join(there, ", "))
}

// choose finds the first of a new session's engines that could serve it. If
// none could, what the first one said is the answer.
func (s *session) choose(ctx context.Context) (refused error, err error) {
	for i, name := range s.engines {
		err := s.hub.provider(name).Check(ctx, s.streamConfig(name, hearken.Microphone, 0))
		if err == nil {
			s.engine = i // nobody else has s yet
			return refused, nil
		}
		if refused == nil {
			refused = err
		}
	}
	return refused, refused
}

// current is the name of the engine that the session uses now.
func (s *session) current() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.engines[s.engine]
}

// hasNext reports whether another engine could take over.
func (s *session) hasNext() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.engine < len(s.engines)-1
}

// failOver goes on with the next engine that could serve the session and tells
// whether there is one. Where two channels fail, the first to come decides.
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
			s.note(hearken.EventFailover, at, at, "[%s failed: %s Continuing with %s.]", from, reason(why), next)
			s.hub.cfg.Log.Warn("provider replaced", "session", s.id, "from", from, "to", next)
			s.awaitReturn()
		}
		return true
	}
	return false
}

// reason is a failure in one sentence that a transcript may hold.
func reason(err error) string {
	if e, ok := errors.AsType[*hearken.Error](err); ok {
		return e.Message
	}
	return err.Error() + "."
}

// awaitReturn looks from now on whether the engine that was wanted first is
// well again, if that is wished for.
func (s *session) awaitReturn() {
	h := s.hub
	if h.cfg.ReturnAfter <= 0 {
		return
	}
	s.mu.Lock()
	busy := s.returning
	s.returning = true
	// One that fails again soon after its return is asked ever more rarely.
	if s.returnWait == 0 || h.cfg.Now().Sub(s.returnedAt) > maxReturnWait {
		s.returnWait = h.cfg.ReturnAfter
	}
	s.mu.Unlock()
	if !busy {
		h.background(s.comeBack)
	}
}

// comeBack asks the wanted engine until it is well, and then goes on with it.
func (s *session) comeBack() {
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
	channels, at := s.channels, s.heardLocked()
	s.mu.Unlock()
	s.note(hearken.EventFailover, at, at, "[%s works again. Continuing with it.]", s.engines[0])
	for _, c := range channels {
		c.rollOver()
	}
}

// sleep waits, and tells whether the session still runs then.
func (s *session) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-s.stopped:
	case <-s.hub.ending:
	case <-s.hub.ctx.Done():
	}
	return false
}

// probe asks an engine whether it would answer now.
func (h *Hub) probe(name string, cfg hearken.StreamConfig) error {
	ctx, cancel := context.WithTimeout(h.ctx, probeWithin)
	defer cancel()
	p := h.provider(name)
	if p == nil {
		return noProvider(name, h.providerNames())
	}
	if err := p.Check(ctx, cfg); err != nil {
		return err
	}
	if prober, ok := p.(hearken.Prober); ok {
		return prober.Probe(ctx, cfg)
	}
	st, err := p.Open(ctx, cfg)
	if err != nil {
		return err
	}
	cancel()
	for range st.Events() { // nothing was said
	}
	return nil
}

// background does something that may take as long as the hub lives.
func (h *Hub) background(do func()) {
	h.mu.RLock() // Close waits for what has begun, and nothing begins after
	defer h.mu.RUnlock()
	if !h.closed {
		h.work.Go(do)
	}
}
