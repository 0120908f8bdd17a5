package deepgram

import (
	"slices"

	"github.com/hearken-dev/hearken/stt"
)

// A finalizeRequest is a Finalize that was sent.
type finalizeRequest struct {
	sent  int64 // samples that the server got before it
	pause bool  // because the speaker paused, not because the caller asked
}

// Finalize asks the server for the words of all audio so far. If there are none
// to wait for, it reports progress at once.
func (s *stream) Finalize() error {
	if s.closed {
		return errClosed
	}
	if err := s.closeError(); err != nil {
		return err
	}
	if err := s.send(); err != nil {
		return err
	}
	s.mu.Lock()
	done := s.finalUntil >= s.clock.endPosition()
	s.mu.Unlock()
	if done {
		s.tryEmitProgress() // if the channel is full, an equal one is on its way
		return nil
	}
	return s.requestFinalize(false)
}

// requestFinalize sends Finalize, once for the same audio. Audio that the
// connection has not accepted by now may come after it, so the answer does not
// cover that.
func (s *stream) requestFinalize(pause bool) error {
	s.mu.Lock()
	if n := len(s.finalizes); n > 0 && s.finalizes[n-1].sent == s.accepted {
		s.finalizes[n-1].pause = s.finalizes[n-1].pause || pause
		s.mu.Unlock()
		return nil
	}
	s.finalizes = append(s.finalizes, finalizeRequest{sent: s.accepted, pause: pause})
	s.mu.Unlock()
	return s.sendText(finalize)
}

const (
	// rounding is how far the server's times may be off.
	rounding = 0.05
	// unansweredAfter is how many seconds of audio after a Finalize no answer
	// to it comes any more: the server had no words.
	unansweredAfter = 10.0
)

// settleFinal is up to where all audio is done after a final that ends at end, on
// the connection's clock, and whether the speaker paused there. The answer to a
// Finalize covers all that was sent before it, even if the answer is shorter:
// the server found no more words. Not every Finalize is answered, so an answer
// is for the first, and for all others up to its end. It is called with the
// lock held.
func (s *stream) settleFinal(m *message, end float64) (to float64, paused bool) {
	n := 0
	if !m.FromFinalize {
		for n < len(s.finalizes) && stt.Seconds(s.finalizes[n].sent)+unansweredAfter < end {
			n++
		}
		s.finalizes = slices.Delete(s.finalizes, 0, n)
		return end, m.SpeechFinal
	}
	for n < len(s.finalizes) && (n == 0 || stt.Seconds(s.finalizes[n].sent) <= end+rounding) {
		to, paused = stt.Seconds(s.finalizes[n].sent), s.finalizes[n].pause
		n++
	}
	s.finalizes = slices.Delete(s.finalizes, 0, n)
	return max(to, end), paused
}
