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
		if _, ok := h.hub.FinalUntil(id); ok {
			h.Error("before there is a far side")
		}
		h.sendBoth(in, 5) // the engine says something from 0 to 1.6, from 2 to 3.6, and from 4 on
		if got, ok := h.hub.FinalUntil(id); !ok || got != 3.6 {
			h.Errorf("while somebody speaks: %v, %v", got, ok)
		}
		in.Detach()
		if _, err := h.hub.Stop(h.Context(), id); err != nil {
			h.Fatal(err)
		}
		if _, ok := h.hub.FinalUntil(id); ok {
			h.Error("of a session that is over")
		}
	})
}

// The far side's backlog is not final, although the session continued.
func TestHub_FinalUntilWithBacklog(t *testing.T) {
	const second = hearken.SampleRate
	s := &session{channels: []*channel{{origin: hearken.Microphone}, {origin: hearken.System}}}
	s.channels[0].finalUntil.Store(1 * second)
	s.channels[1].finalUntil.Store(9 * second)
	h := &Hub{sessions: map[string]*session{"s": s}}
	s.backlog = []*backlogSpan{{Origin: hearken.Microphone, From: 2 * second, To: 3 * second}, {Origin: hearken.System, From: 4 * second, To: 5 * second}}
	if got, ok := h.FinalUntil("s"); !ok || got != 4 {
		t.Error(got, ok)
	}
	s.phase = backlogged
	if got, ok := h.FinalUntil("s"); !ok || got != 4 {
		t.Error(got, ok)
	}
	s.phase, s.backlog = ended, nil
	if got, ok := h.FinalUntil("s"); ok {
		t.Error(got)
	}
}
