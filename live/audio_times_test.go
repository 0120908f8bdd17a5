package live

import (
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
)

// lastAudioAge is how long ago the last audio was, according to the hub.
func (h *testHub) lastAudioAge() time.Duration { return time.Since(h.hub.LastAudio()) }

func TestLastAudio(t *testing.T) {
	withHub(t, func(h *testHub) {
		if at := h.hub.LastAudio(); !at.IsZero() {
			h.Errorf("before any audio: %s", at)
		}
		quiet := h.start()
		if age := h.lastAudioAge(); age != 0 {
			h.Errorf("a session has started, and the last audio was %s ago", age)
		}
		if session, _ := h.hub.LiveSession(); session != "" {
			h.Errorf("a session without audio is live: %s", session)
		}
		first, second := h.start(), h.start()
		h.send(h.attach(first), 1)
		wait(time.Minute)
		h.send(h.attach(second), 1)
		if age := h.lastAudioAge(); age != 0 {
			h.Errorf("audio arrived %s ago, not now", age)
		}
		if session, at := h.hub.LiveSession(); session != second || time.Since(at) != 0 {
			h.Errorf("the live session is %s of %s", session, at)
		}
		// Neither stopping nor deleting a session takes its audio back.
		wait(2 * time.Minute)
		if _, err := h.hub.Stop(h.Context(), second); err != nil {
			h.Fatal(err)
		}
		if err := h.hub.Delete(h.Context(), second); err != nil {
			h.Fatal(err)
		}
		if age := h.lastAudioAge(); age > 3*time.Minute {
			h.Errorf("the last audio was %s ago", age)
		}
		if session, _ := h.hub.LiveSession(); session != first {
			h.Errorf("the live session is %s, not %s of which more may come", session, first)
		}
		if at, active := h.hub.AudioEnd(h.Context(), quiet); !active || !at.Equal(h.hub.LastAudio()) {
			h.Errorf("a session without audio: %s, %t", at, active)
		}
	})
}

// A recording that is sent is no live audio: nobody speaks now.
func TestLastAudio_Recorded(t *testing.T) {
	withHub(t, func(h *testHub) {
		s, err := h.hub.Start(h.Context(), hearken.StartRequest{Principal: "local", Recorded: true})
		if err != nil {
			h.Fatal(err)
		}
		h.send(h.attach(s.ID), 1)
		if at := h.hub.LastAudio(); !at.IsZero() {
			h.Errorf("the last audio was at %s", at)
		}
		if session, _ := h.hub.LiveSession(); session != "" {
			h.Errorf("the live session is %s", session)
		}
	})
}

// What was active before a restart counts as if its audio had gone on.
func TestLastAudio_Restart(t *testing.T) {
	withHub(t, func(h *testHub) {
		h.send(h.attach(h.start()), 1)
		h.close()
		wait(time.Hour)
		h.open()
		if age := h.lastAudioAge(); age != 0 {
			h.Errorf("after the restart the last audio was %s ago", age)
		}
	})
}

func TestAudioEnd(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.start()
		h.send(h.attach(id), 1)
		spoken := time.Now()
		wait(time.Minute)
		if at, active := h.hub.AudioEnd(h.Context(), id); !active || !at.Equal(spoken) {
			h.Errorf("while it is active: %s, %t", at, active)
		}
		if _, err := h.hub.Stop(h.Context(), id); err != nil {
			h.Fatal(err)
		}
		stopped := time.Now()
		h.close()
		wait(time.Hour)
		h.open()
		if at, active := h.hub.AudioEnd(h.Context(), id); active || at.Before(spoken) || at.After(stopped) {
			h.Errorf("when it has stopped: %s, %t; spoken %s, stopped %s", at, active, spoken, stopped)
		}
		if err := h.hub.Delete(h.Context(), id); err != nil {
			h.Fatal(err)
		}
		if at, active := h.hub.AudioEnd(h.Context(), id); active || !at.IsZero() {
			h.Errorf("when it is deleted: %s, %t", at, active)
		}
	})
}
