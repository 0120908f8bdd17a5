package deepgram

import "time"

const (
	// keepAliveAfter is how long nothing may be sent before the server is told
	// that somebody is there: it gives up after ten seconds and wants to be
	// told every three to five.
	keepAliveAfter = 4 * time.Second
	// firstSound is when the server gets a little silence if there is no sound
	// yet: KeepAlive does not count before the first sound.
	firstSound = 7 * time.Second
	// drainWithin is how long the server may say nothing while it works off
	// what it has at the end.
	drainWithin = 10 * time.Second

	watchEvery = time.Second
	// holds is how much sound Deepgram always has in hand: it speaks about
	// once a second.
	holds = 1.0
)

// keep keeps the connection alive, watches over it and ends it.
func (s *stream) keep() {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	closing := s.closing
	for {
		select {
		case <-s.done:
			return
		case <-s.ctx.Done():
			return
		case <-closing:
			closing = nil
			s.finish()
		case <-s.finalize:
			if closing != nil {
				_ = s.ask(true) // the reader tells why it failed
			}
		case now := <-tick.C:
			s.watch(now, closing == nil)
		}
	}
}

// finish sends what is left and asks the server to work it off.
func (s *stream) finish() {
	guard := time.AfterFunc(s.stall, func() { s.fail(errStalled(s.stall)) })
	defer guard.Stop()
	if len(s.buf) > 0 && s.send() != nil {
		return
	}
	s.mu.Lock()
	s.closedAt = time.Now() // before it is sent: the answer may be quick
	s.mu.Unlock()
	_ = s.tell(closeStream) // the reader tells why it failed
}

// watch does what time asks for.
func (s *stream) watch(now time.Time, closing bool) {
	s.mu.Lock()
	unanswered := seconds(s.clock.sent()) - s.newest
	soundless := s.clock.sent() == 0 && now.Sub(s.opened) >= firstSound
	idle := !s.sending && now.Sub(s.sentAt) >= keepAliveAfter
	stalled := s.sending && now.Sub(s.sentAt) >= s.stall ||
		!s.hungry.IsZero() && now.Sub(s.hungry) >= s.stall && unanswered > 3*holds
	drained := !s.closedAt.IsZero() && now.Sub(s.closedAt) >= drainWithin && now.Sub(s.heardAt) >= drainWithin
	s.mu.Unlock()
	switch {
	case len(s.events) == cap(s.events):
		return // who listens is slow: it is not the server that says nothing
	case closing && drained:
		s.fail(errDrain(drainWithin))
	case closing:
	case stalled:
		s.fail(errStalled(s.stall))
	case soundless:
		s.pad()
	case idle:
		_ = s.tell(keepAlive) // the reader tells why it failed
	}
	if unanswered > 5*holds { // no result came that would have told it
		s.offerProgress()
	}
}

// pad sends a little silence that stands for no time of the session, unless
// somebody sends sound just now.
func (s *stream) pad() {
	if !s.order.TryLock() {
		return
	}
	defer s.order.Unlock()
	s.mu.Lock()
	soundless := s.clock.sent() == 0
	if soundless {
		s.clock.pad(minMessage)
	}
	s.mu.Unlock()
	if soundless {
		_ = s.transmit(make([]byte, 2*minMessage)) // the reader tells why it failed
	}
}
