package deepgram

import (
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt"
)

const (
	// keepAliveAfter is how long nothing may be sent before a KeepAlive. The
	// server gives up after ten seconds and wants one every three to five.
	keepAliveAfter = 4 * time.Second
	// firstAudio is when the server gets a little silence if there is no audio
	// yet: KeepAlive does not count before the first audio.
	firstAudio = 7 * time.Second
	// drainWithin is how long the server may send nothing while it transcribes
	// the rest at the end.
	drainWithin = 10 * time.Second

	watchEvery = time.Second
	// usualLag is how many seconds of audio Deepgram always holds: it sends
	// results about once a second.
	usualLag = 1.0
)

// maintain keeps the connection alive, notices when it stalls, and ends it.
func (s *stream) maintain() {
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
				_ = s.requestFinalize(true) // the reader reports why it failed
			}
		case now := <-tick.C:
			s.checkTimers(now, closing == nil)
		}
	}
}

// finish sends what is left and asks the server to finish.
func (s *stream) finish() {
	guard := time.AfterFunc(s.stall, func() { s.fail(errStalled(s.stall)) })
	defer guard.Stop()
	if s.send() != nil {
		return
	}
	s.mu.Lock()
	s.closedAt = time.Now() // set before sending: the answer may be quick
	s.mu.Unlock()
	_ = s.sendText(closeStream) // the reader reports why it failed
}

// checkTimers does what is due now: it keeps an idle connection alive and ends
// one that has stalled.
func (s *stream) checkTimers(now time.Time, closing bool) {
	s.mu.Lock()
	unanswered := stt.Seconds(s.clock.sent()) - s.answeredUntil
	noAudio := s.clock.sent() == 0 && now.Sub(s.opened) >= firstAudio
	idle := !s.sending && now.Sub(s.sentAt) >= keepAliveAfter
	stalled := s.sending && now.Sub(s.sentAt) >= s.stall ||
		!s.unansweredSince.IsZero() && now.Sub(s.unansweredSince) >= s.stall && unanswered > 3*usualLag
	drained := !s.closedAt.IsZero() && now.Sub(s.closedAt) >= drainWithin && now.Sub(s.receivedAt) >= drainWithin
	s.mu.Unlock()
	switch {
	case len(s.events) == cap(s.events):
		return // the caller is slow, not the server
	case closing && drained:
		s.fail(hearken.Errorf(hearken.ProviderConnectionFailed, "Deepgram did not finish the stream and sent nothing for %s.", drainWithin))
	case closing:
	case stalled:
		s.fail(errStalled(s.stall))
	case noAudio:
		s.sendPadding()
	case idle:
		_ = s.sendText(keepAlive) // the reader reports why it failed
	}
	if unanswered > 5*usualLag { // no result has reported it
		s.tryEmitProgress()
	}
}

// sendPadding sends a little silence that takes no time in the session, unless audio is
// just being sent.
func (s *stream) sendPadding() {
	if !s.sendMu.TryLock() {
		return
	}
	defer s.sendMu.Unlock()
	s.mu.Lock()
	noAudio := s.clock.sent() == 0
	if noAudio {
		s.clock.addPadding(minMessage)
	}
	s.mu.Unlock()
	if noAudio {
		_ = s.transmit(make([]byte, 2*minMessage)) // the reader reports why it failed
	}
}
