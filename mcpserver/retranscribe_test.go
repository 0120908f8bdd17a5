package mcpserver_test

import (
	"testing"

	"github.com/hearken-dev/hearken"
)

func TestRetranscribeSession(t *testing.T) {
	h := newTestHub(t, local)
	s, err := h.hub.Start(t.Context(), hearken.StartRequest{Principal: "local", KeepAudio: true})
	if err != nil {
		t.Fatal(err)
	}
	h.speak(s.ID, 10)
	h.fails("retranscribe_session", object{"sessionId": s.ID}, -32000) // still active
	call[status](h, "stop_transcription", object{"sessionId": s.ID})

	again := call[started](h, "retranscribe_session", object{"sessionId": s.ID, "vocabulary": []string{"Rhabarber"}})
	if again.SessionID == s.ID || again.Provider != "local" || again.Language != "en" {
		t.Errorf("retranscribe_session: %+v", again)
	}
	var p page
	for p.Status != "stopped" {
		args := object{"sessionId": again.SessionID, "fromSegment": len(p.Segments), "waitSeconds": 20}
		next := call[page](h, "get_transcription", args)
		p.Segments, p.Status = append(p.Segments, next.Segments...), next.Status
	}
	first := call[page](h, "get_transcription", object{"sessionId": s.ID})
	if len(p.Segments) != len(first.Segments) || len(p.Segments) != 5 {
		t.Errorf("%d segments the first time, %d again", len(first.Segments), len(p.Segments))
	}
	h.fails("retranscribe_session", object{"sessionId": again.SessionID}, -32000) // its audio was not kept
}

// Neither an agent's argument nor a key in its environment sends a capture to a
// remote engine.
func TestRetranscribeSession_Capture(t *testing.T) {
	keyed := local
	keyed.Provider, keyed.APIKey = "other,local", "k"
	h := newTestHub(t, keyed)
	s, err := h.hub.Start(t.Context(), hearken.StartRequest{Principal: "local", KeepAudio: true, Capture: true})
	if err != nil {
		t.Fatal(err)
	}
	h.speak(s.ID, 4)
	call[status](h, "stop_transcription", object{"sessionId": s.ID})
	h.fails("retranscribe_session", object{"sessionId": s.ID, "provider": "other"}, 403)
	if again := call[started](h, "retranscribe_session", object{"sessionId": s.ID}); again.Provider != "local" {
		t.Errorf("again: %+v", again)
	}
	keyed.Named = true
	h.client = connect(t, h.factory.Server(keyed))
	if again := call[started](h, "retranscribe_session", object{"sessionId": s.ID}); again.Provider != "other" {
		t.Errorf("with an engine that somebody named: %+v", again)
	}
}
