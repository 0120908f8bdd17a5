package live

import (
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
)

// sendBoth sends audio on both channels.
func (h *testHub) sendBoth(in hearken.Input, seconds float64) {
	h.Helper()
	frame := make([]int16, hearken.SampleRate/10)
	for range int(seconds*10 + 0.5) {
		if err := in.Write(frame, frame); err != nil {
			h.Fatal(err)
		}
		wait(frameTime)
	}
}

const frameTime = 100 * time.Millisecond

func TestHub_FinalUntil(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.start()
		in := h.attach(id)
		if _, ok := h.hub.FinalUntil(h.Context(), id, 5); ok {
			h.Error("before there is a far side")
		}
		h.sendBoth(in, 5) // the engine says something from 0 to 1.6, from 2 to 3.6, and from 4 on
		if got, ok := h.hub.FinalUntil(h.Context(), id, 0); !ok || got != 3.6 {
			h.Errorf("while somebody speaks: %v, %v", got, ok)
		}
		if got, ok := h.hub.FinalUntil(h.Context(), id, 5); !ok || got != 5 {
			h.Errorf("asked for the words: %v, %v", got, ok)
		}
		h.engine.Stall()
		h.sendBoth(in, 3)
		if got, ok := h.hub.FinalUntil(h.Context(), id, 8); !ok || got != 5 {
			h.Errorf("of an engine that is stuck: %v, %v", got, ok)
		}
		h.engine.Resume()
		in.Detach()
		if _, err := h.hub.Stop(h.Context(), id); err != nil {
			h.Fatal(err)
		}
		if _, ok := h.hub.FinalUntil(h.Context(), id, 8); ok {
			h.Error("of a session that is over")
		}
	})
}

// The far side's backlog is not final, although the session continued.
func TestHub_FinalUntilWithBacklog(t *testing.T) {
	s := &session{channels: []*channel{{origin: hearken.Microphone}, {origin: hearken.System}}}
	s.channels[0].finalUntil.Store(10)
	s.channels[1].finalUntil.Store(90)
	s.backlog = []*backlogSpan{{Origin: hearken.Microphone, From: 20, To: 30}, {Origin: hearken.System, From: 40, To: 50}}
	if got, ok := s.farFinalUntil(); !ok || got != 40 {
		t.Error(got, ok)
	}
	s.phase = backlogged
	if got, ok := s.farFinalUntil(); !ok || got != 40 {
		t.Error(got, ok)
	}
	s.phase, s.backlog = ended, nil
	if got, ok := s.farFinalUntil(); ok {
		t.Error(got)
	}
}
