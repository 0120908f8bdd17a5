//go:build accept

package accept

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// spoken is the recording that the conversations are about, and some of its
// words.
const spoken, theWords = "jfk.wav", "what your country can do for you"

// A conversation is what an agent does for somebody who asks it to take notes:
// start, follow with the cursor, stop, and save a note. The audio is sent by
// the test, as a recorder would.
type conversation struct {
	t   *testing.T
	pcm []byte

	mu         sync.Mutex
	calls      []call
	id         string
	transcript string
	sent       chan error
	pages      int // that were read while it was live
}

func newConversation(t *testing.T) *conversation {
	t.Helper()
	pcm, err := os.ReadFile(recording(t, spoken))
	if err != nil {
		t.Fatal(err)
	}
	return &conversation{t: t, pcm: pcm, sent: make(chan error, 1)}
}

// next is the script for a [model]. An agent that asks again for the same turn
// gets the same answer.
func (c *conversation) next(shown []string) *call {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(shown) < len(c.calls) {
		return &c.calls[len(shown)]
	}
	next := c.decide(shown)
	if next != nil {
		c.calls = append(c.calls, *next)
	}
	return next
}

func (c *conversation) decide(shown []string) *call {
	if len(shown) == 0 {
		return &call{"start_transcription", map[string]any{"title": "Inaugural address", "language": "en"}}
	}
	result := shown[len(shown)-1]
	last := c.calls[len(c.calls)-1]
	var r struct {
		SessionID, WSEndpoint, Cursor string
		Segments                      []struct{ Text string }
	}
	if err := json.Unmarshal([]byte(result), &r); err != nil {
		c.t.Errorf("%s: the model was shown %.300q, which is no JSON", last.tool, result)
		return nil
	}
	switch last.tool {
	case "start_transcription":
		c.id = r.SessionID
		go func() { c.sent <- send(c.t.Context(), r.WSEndpoint, c.pcm) }()
	case "get_transcription":
		c.pages++
		for _, s := range r.Segments {
			c.transcript += " " + s.Text
		}
		if strings.Contains(plain(c.transcript), "for your country") || c.pages == 20 {
			return &call{"stop_transcription", map[string]any{"sessionId": c.id}}
		}
	case "stop_transcription":
		return &call{"save_note", map[string]any{"sessionId": c.id, "text": "# Summary\nAsk what *you* can do.", "title": "Ask not"}}
	case "save_note":
		return &call{"get_session_status", map[string]any{"sessionId": c.id, "includeNote": true}}
	default:
		return nil
	}
	follow := map[string]any{"sessionId": c.id, "waitSeconds": 20}
	if r.Cursor != "" {
		follow["cursor"] = r.Cursor
	}
	return &call{"get_transcription", follow}
}

// check compares the end of the conversation with what was said.
func (c *conversation) check(shown []string) {
	c.t.Helper()
	select {
	case err := <-c.sent:
		if err != nil {
			c.t.Errorf("send: %v", err)
		}
	case <-time.After(10 * time.Second):
		c.t.Error("the sender did not learn that the session was stopped")
	}
	if !strings.Contains(plain(c.transcript), theWords) {
		c.t.Errorf("the model was shown %q", c.transcript)
	}
	if len(shown) == 0 {
		c.t.Fatal("the model was shown nothing")
	}
	var status struct {
		Status, Title string
		Note          struct{ Text string }
	}
	if err := json.Unmarshal([]byte(shown[len(shown)-1]), &status); err != nil {
		c.t.Fatalf("%v in %q", err, shown[len(shown)-1])
	}
	if status.Status != "stopped" || status.Title != "Ask not" || !strings.Contains(status.Note.Text, "what *you* can do") {
		c.t.Errorf("at the end the model was shown %+v", status)
	}
	c.t.Logf("%d calls, %d pages while it was live; transcript:%s", len(c.calls), c.pages, c.transcript)
}

// send sends a WAV file four times as fast as it was spoken, and stays until
// the hub says goodbye because the agent stopped the session.
func send(ctx context.Context, endpoint string, pcm []byte) error {
	conn, _, err := websocket.Dial(ctx, endpoint, nil)
	if err != nil {
		return err
	}
	defer conn.CloseNow()
	conn.SetReadLimit(1 << 20)
	done := make(chan error, 1)
	go func() {
		for {
			if _, _, err := conn.Read(ctx); err != nil {
				done <- err
				return
			}
		}
	}()
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for len(pcm) > 0 {
		n := min(3200, len(pcm))
		if err := conn.Write(ctx, websocket.MessageBinary, pcm[:n]); err != nil {
			return err
		}
		pcm = pcm[n:]
		<-tick.C
	}
	if err := <-done; websocket.CloseStatus(err) != websocket.StatusNormalClosure {
		return err
	}
	return nil
}

// plain is a text in lower case without punctuation.
func plain(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !('a' <= r && r <= 'z' || r == '\'') }), " ")
}
