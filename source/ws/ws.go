// Package ws lets programs and browsers send sound to a session over a
// WebSocket: it is the door WS /audio/{sessionId}.
//
// Binary messages are sound. They are cut as the sender likes: raw PCM16,
// mu-law or A-law, declared by the query in Deepgram's words
// (encoding=linear16&sample_rate=16000&channels=1) or by a config frame before
// the first sound; or WAV, Ogg/Opus or WebM/Opus, recognised by the first
// bytes. What is neither declared nor recognised is PCM16 at 16 kHz. Two
// channels are this side and the far side.
//
// Text messages are frames: JSON objects with a "type". From the hub:
//
//	ready{receivedSamples, epoch}   at once: go on from there
//	ack{samples}                    every second while sound comes
//	partial{segment} final{segment} what was heard
//	speechStarted{time} lag{seconds} dropped{seconds}
//	error{code, message}            the connection may go on
//	closed{reason}                  the last one, if the session ended
//
// To the hub:
//
//	config{encoding, sampleRate, channels}   before the first sound
//	finish                                   the sound is complete
//
// Samples are counted for one channel at the sample rate that was declared;
// where none was, and in every ready that comes before a config frame, at
// 16 kHz. A sender that returns sends from receivedSamples on; one that sends
// a container begins a new one there.
//
// The connection is closed with 1000 after closed, or with
//
//	4400  the input is wrong, or no sound that can be decoded
//	4401  no key, or a wrong one
//	4403  somebody else sends to this session
//	4404  there is no such session
//	4409  the same sender came again, and this is its old connection
//	4410  the session is stopped
//	1009  a message of more than 1 MiB
//	1001  the hub ends; come back
//	1011  the hub failed
//	1013  no room now; try later
//
// and an error frame comes before all of these but 4409 and 1001. A sender
// that neither sends nor answers a ping for 30 seconds is taken for gone; its
// session waits for it to return.
package ws

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/hearken-dev/hearken"
)

// Sessions is what the door needs of the hub.
type Sessions interface {
	// Attach makes the caller the sender of a session.
	Attach(ctx context.Context, id, principal string) (hearken.Input, error)
}

// Config is what a [Handler] is made of.
type Config struct {
	Sessions Sessions
	// Principal names who sends a request. The door in front has let it in
	// already; an error refuses it all the same.
	Principal func(*http.Request) (string, error)
	// Subprotocols are those that a browser may ask for, where the door in
	// front reads a key from them: it fails if none is agreed to.
	Subprotocols []string
	Log          *slog.Logger
}

// A Handler serves WS /audio/{sessionId}. The pattern it is registered with
// must have a wildcard of that name.
type Handler struct {
	cfg     Config
	alive   time.Duration // between two looks at whether the sender is there
	mu      sync.Mutex
	open    int
	closed  bool
	closing chan struct{} // closed when the handler closes
	empty   chan struct{} // closed when no connection is left after that
}

// New makes a handler.
func New(cfg Config) *Handler {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Handler{cfg: cfg, alive: 15 * time.Second, closing: make(chan struct{}), empty: make(chan struct{})}
}

// Open is the number of connections.
func (h *Handler) Open() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.open
}

// Close tells every sender to come back later and waits for the connections to
// end, or for ctx. [http.Server.Shutdown] does not know of them.
func (h *Handler) Close(ctx context.Context) error {
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		close(h.closing)
		if h.open == 0 {
			close(h.empty)
		}
	}
	h.mu.Unlock()
	select {
	case <-h.empty:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// enter counts a connection; leave must follow if it returns true.
func (h *Handler) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.open++
	return true
}

func (h *Handler) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open--
	if h.closed && h.open == 0 {
		close(h.empty)
	}
}

// ServeHTTP serves one connection to its end. What is wrong with it is said
// after the upgrade, because a browser sees nothing of a refused one.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		refuse(w, http.StatusUpgradeRequired, hearken.Errorf(hearken.Invalid, "this address takes sound over a WebSocket."))
		return
	}
	if !h.enter() {
		refuse(w, http.StatusServiceUnavailable, hearken.Errorf(hearken.Busy, "the hub is shutting down."))
		return
	}
	defer h.leave()

	c := &conn{h: h}
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		// The door in front has checked Host and Origin on every route, with
		// rules that this library does not know.
		InsecureSkipVerify: true,
		Subprotocols:       h.cfg.Subprotocols,
		CompressionMode:    websocket.CompressionDisabled, // sound does not compress, and memory counts
		OnPongReceived:     func(context.Context, []byte) { c.hear() },
	})
	if err != nil {
		return // Accept has answered
	}
	ws.SetReadLimit(-1) // counted here, so that an error frame can come first
	c.ws = ws
	defer func() { _ = ws.CloseNow() }()
	if err := c.attach(r); err != nil {
		c.farewell(err)
		return
	}
	c.serve()
}

// refuse answers a request that is no WebSocket.
func refuse(w http.ResponseWriter, status int, err *hearken.Error) {
	w.Header().Set("Content-Type", "application/json")
	if status == http.StatusUpgradeRequired {
		w.Header().Set("Connection", "Upgrade")
		w.Header().Set("Upgrade", "websocket")
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"error": map[string]any{"code": err.Code, "message": err.Error()},
	})
}
