package ws

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/hearken-dev/hearken"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	known   = "11111111-2222-3333-4444-555555555555"
	stopped = "99999999-2222-3333-4444-555555555555"
	broken  = "77777777-2222-3333-4444-555555555555"
)

// A hub is a small stand-in with one session.
type hub struct {
	mu        sync.Mutex
	input     *input
	principal string
	received  int64
	pcm       [][]int16
	declared  []any
	finished  bool
	detached  chan struct{} // gets one for each Detach
}

func (h *hub) Attach(_ context.Context, id, principal string) (hearken.Input, error) {
	switch id {
	case known:
	case stopped:
		return nil, hearken.Errorf(hearken.SessionAlreadyStopped, "session %s is stopped.", id)
	case broken:
		return nil, context.DeadlineExceeded
	default:
		return nil, hearken.Errorf(hearken.SessionNotFound, "there is no session %s.", id)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.input != nil {
		if h.principal != principal {
			return nil, hearken.Errorf(hearken.SessionAlreadyActive, "session %s already has a sender.", id)
		}
		h.input.end(hearken.InputEvent{Kind: hearken.InputReplaced})
	}
	h.input, h.principal = &input{hub: h, events: make(chan hearken.InputEvent, 64)}, principal
	return h.input, nil
}

type input struct {
	hub    *hub
	events chan hearken.InputEvent
	once   sync.Once
}

func (in *input) end(last hearken.InputEvent) {
	in.once.Do(func() {
		if last.Kind != "" {
			in.events <- last
		}
		close(in.events)
	})
}

func (in *input) Received() int64 {
	in.hub.mu.Lock()
	defer in.hub.mu.Unlock()
	return in.hub.received
}

func (in *input) Epoch() int { return 7 }

func (in *input) Describe(encoding string, sampleRate, channels int) error {
	in.hub.mu.Lock()
	defer in.hub.mu.Unlock()
	in.hub.declared = []any{encoding, sampleRate, channels}
	return nil
}

func (in *input) Write(channels ...[]int16) error {
	h := in.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.input != in {
		return hearken.Errorf(hearken.AudioWebSocketClosed, "another connection took over.")
	}
	if h.finished {
		return hearken.Errorf(hearken.SessionAlreadyStopped, "the session is stopped.")
	}
	if h.pcm == nil {
		h.pcm = make([][]int16, len(channels))
	}
	for i, c := range channels {
		h.pcm[i] = append(h.pcm[i], c...)
	}
	h.received += int64(len(channels[0]))
	return nil
}

func (in *input) Skip(time.Duration, string) error  { return nil }
func (in *input) Events() <-chan hearken.InputEvent { return in.events }

func (in *input) Finalize(...hearken.Origin) error { return nil }

func (in *input) Finish() error {
	in.hub.mu.Lock()
	in.hub.finished = true
	in.hub.mu.Unlock()
	in.end(hearken.InputEvent{Kind: hearken.InputClosed, Reason: hearken.StopFinished})
	return nil
}

func (in *input) Detach() {
	in.end(hearken.InputEvent{})
	in.hub.mu.Lock()
	if in.hub.input == in {
		in.hub.input = nil
	}
	in.hub.mu.Unlock()
	in.hub.detached <- struct{}{}
}

// sender returns the input of the current connection.
func (h *hub) sender() *input {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.input
}

// audio returns a copy of the audio that came.
func (h *hub) audio() [][]int16 {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([][]int16, len(h.pcm))
	for i, c := range h.pcm {
		out[i] = append([]int16(nil), c...)
	}
	return out
}

// serve runs the handler with a fake hub. The header X-Principal names the
// principal.
func serve(t *testing.T, alive time.Duration) (h *hub, handler *Handler, url string) {
	t.Helper()
	h = &hub{detached: make(chan struct{}, 100)}
	handler = New(Config{Sessions: h, Principal: func(r *http.Request) (string, error) {
		switch p := r.Header.Get("X-Principal"); p {
		case "nobody":
			return "", hearken.Errorf(hearken.Unauthorized, "there is no such key.")
		default:
			return p, nil
		}
	}})
	if alive > 0 {
		handler.pingEvery = alive
	}
	mux := http.NewServeMux()
	mux.Handle("/audio/{sessionId}", handler)
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := handler.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
		server.Close()
	})
	return h, handler, "ws" + strings.TrimPrefix(server.URL, "http") + "/audio/"
}

// A client is the sender in a test.
type client struct {
	t  *testing.T
	ws *websocket.Conn
}

func dial(t *testing.T, url, principal string) *client {
	t.Helper()
	ws, _, err := websocket.Dial(t.Context(), url, &websocket.DialOptions{HTTPHeader: http.Header{"X-Principal": {principal}}})
	if err != nil {
		t.Fatal(err)
	}
	ws.SetReadLimit(1 << 20)
	t.Cleanup(func() { _ = ws.CloseNow() })
	return &client{t, ws}
}

type message map[string]any

// next reads one frame.
func (c *client) next() message {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 20*time.Second)
	defer cancel()
	var m message
	if err := wsjson.Read(ctx, c.ws, &m); err != nil {
		c.t.Fatal(err)
	}
	return m
}

// until reads frames up to one of a type.
func (c *client) until(kind string) message {
	c.t.Helper()
	for {
		if m := c.next(); m["type"] == kind {
			return m
		}
	}
}

// closed reads until the connection is closed and returns how.
func (c *client) closed() websocket.CloseError {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 20*time.Second)
	defer cancel()
	for {
		_, _, err := c.ws.Read(ctx)
		if err == nil {
			continue
		}
		ce := websocket.CloseError{}
		if !asClose(err, &ce) {
			c.t.Fatalf("not closed: %v", err)
		}
		return ce
	}
}

func (c *client) sendAudio(b []byte) {
	c.t.Helper()
	if err := c.ws.Write(c.t.Context(), websocket.MessageBinary, b); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) text(s string) {
	c.t.Helper()
	if err := c.ws.Write(c.t.Context(), websocket.MessageText, []byte(s)); err != nil {
		c.t.Fatal(err)
	}
}
