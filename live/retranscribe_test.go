package live

import (
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
)

func TestHub_Retranscribe(t *testing.T) {
	withHub(t, func(h *testHub) {
		s, err := h.hub.Start(h.Context(), hearken.StartRequest{Principal: "local", Title: "Call", KeepAudio: true})
		if err != nil {
			h.Fatal(err)
		}
		in := h.attach(s.ID)
		h.send(in, 100)
		if _, err := h.hub.Retranscribe(h.Context(), s.ID, hearken.StartRequest{}); hearken.CodeOf(err) != hearken.SessionAlreadyActive {
			h.Errorf("again while it is active: %v", err)
		}
		if _, err := h.hub.Stop(h.Context(), s.ID); err != nil {
			h.Fatal(err)
		}
		wait(time.Second)
		again, err := h.hub.Retranscribe(h.Context(), s.ID, hearken.StartRequest{Principal: "local"})
		if err != nil {
			h.Fatal(err)
		}
		wait(10 * time.Second)
		done, err := h.hub.Session(h.Context(), again.ID)
		if err != nil || done.Status != hearken.Stopped || done.Duration != 100 || done.Title != "Call" {
			h.Errorf("again: %+v, %v", done, err)
		}
		h.want(again.ID, words(0, 50))
	})
}

func TestHub_RetranscribeWithoutAudio(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.start()
		h.send(h.attach(id), 4)
		if _, err := h.hub.Stop(h.Context(), id); err != nil {
			h.Fatal(err)
		}
		if _, err := h.hub.Retranscribe(h.Context(), id, hearken.StartRequest{}); hearken.CodeOf(err) != hearken.NotFound {
			h.Errorf("again without archived audio: %v", err)
		}
	})
}
