package deepgram

import "slices"

// A request is a Finalize that was sent.
type request struct {
	sent  int64 // samples that the server got before it
	pause bool  // because somebody paused, and not because somebody asked
}

// Finalize asks the server for the words of all sound so far. If there are
// none to wait for, it says so at once.
func (s *stream) Finalize() error {
	if s.closed {
		return errClosed
	}
	if err := s.over(); err != nil {
		return err
	}
	if len(s.buf) > 0 {
		if err := s.send(); err != nil {
			return err
		}
	}
	s.mu.Lock()
	settled := s.through >= s.clock.pos()
	s.mu.Unlock()
	if settled {
		s.offerProgress() // if there is no room, one that says the same is on its way
		return nil
	}
	return s.ask(false)
}

// ask sends Finalize, once for the same sound. What the connection has not
// taken by now may come after it: its answer does not speak of that.
func (s *stream) ask(pause bool) error {
	s.mu.Lock()
	if n := len(s.asked); n > 0 && s.asked[n-1].sent == s.taken {
		s.asked[n-1].pause = s.asked[n-1].pause || pause
		s.mu.Unlock()
		return nil
	}
	s.asked = append(s.asked, request{sent: s.taken, pause: pause})
	s.mu.Unlock()
	return s.tell(finalize)
}

const (
	// rounding is how far the server's times may be off.
	rounding = 0.05
	// forgetAsked is how much sound after a Finalize no answer to it will
	// come: the server had nothing to answer with.
	forgetAsked = 10.0
)

// settled is up to where a final that ends at end settles the sound, on the
// connection's clock, and whether somebody paused there. The answer to a
// Finalize settles all that was sent before, even where it is shorter: the
// server has worked it off and found nothing more. Not every Finalize is
// answered, so an answer is for the first, and for those that it reaches as
// well. Called with the lock held.
func (s *stream) settled(m *message, end float64) (to float64, paused bool) {
	n := 0
	if !m.FromFinalize {
		for n < len(s.asked) && seconds(s.asked[n].sent)+forgetAsked < end {
			n++
		}
		s.asked = slices.Delete(s.asked, 0, n)
		return end, m.SpeechFinal
	}
	for n < len(s.asked) && (n == 0 || seconds(s.asked[n].sent) <= end+rounding) {
		to, paused = seconds(s.asked[n].sent), s.asked[n].pause
		n++
	}
	s.asked = slices.Delete(s.asked, 0, n)
	return max(to, end), paused
}
