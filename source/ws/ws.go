// Package ws lets programs and browsers send audio to a session over a
// WebSocket. It serves WS /audio/{sessionId}.
//
// Binary messages are audio, split as the sender likes: raw PCM16, 32-bit
// floating point, mu-law or A-law, declared by the query in Deepgram's words
// (encoding=linear16&sample_rate=16000&channels=1) or by a config frame before
// the first audio; or WAV, Ogg/Opus or WebM/Opus, recognised by the first
// bytes. Anything else is taken for PCM16 at 16 kHz. Two channels are this side
// and the far side.
//
// Text messages are frames: JSON objects with a "type". From the hub:
//
//	ready{receivedSamples, epoch}   at once: continue from there
//	ack{samples}                    every second while audio comes
//	partial{segment} final{segment} what was said; an event has a kind in "event"
//	speechStarted{time} lag{seconds} dropped{seconds}
//	error{code, message}            the connection may continue
//	closed{reason}                  the last one, if the session ended
//
// To the hub:
//
//	config{encoding, sampleRate, channels}   before the first audio
//	finish                                   the audio is complete
//
// Twilio's Media Streams are understood too: connected, start, media and stop
// messages. Two tracks are two sides: inbound is the far side, outbound this
// one. Twilio drops the query of an address. So the ticket of the session comes
// as the custom parameter "ticket", or in the path: /audio/{sessionId}/{ticket}.
// A sender without a ticket has 10 seconds and four messages to show one, and
// nothing is accepted before. Twilio gets no frames, only the close code.
//
// Samples are counted for one channel, at the declared sample rate. Without a
// declaration, and in every ready before a config frame, they are counted at
// 16 kHz. A sender that returns continues from receivedSamples; one that sends
// a container begins a new one there.
//
// The connection is closed with 1000 after closed, or with
//
//	4400  the input is invalid, or cannot be decoded
//	4401  the key is missing or wrong
//	4403  another principal sends to this session
//	4404  there is no such session
//	4409  the same sender connected again; this is its old connection
//	4410  the session is stopped
//	1009  a message of more than 1 MiB
//	1001  the hub is closing; connect again
//	1011  the hub failed
//	1013  the hub is busy; try later
//
// An error frame comes before all of these but 4409 and 1001. A sender that
// closes the connection with 1000 has finished. If the connection ends in any
// other way, the session waits for the sender to return. One that neither sends
// nor answers a ping for 30 seconds is disconnected.
package ws

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"
	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/source/wsconn"
)

// Sessions is what a [Handler] needs of the hub.
type Sessions interface {
	// Attach makes the caller the sender of a session.
	Attach(ctx context.Context, id, principal string) (hearken.Input, error)
}

// Config configures a [Handler].
type Config struct {
	Sessions Sessions
	// Principal names the sender of a request, which is authenticated already.
	// An error still refuses it.
	Principal func(*http.Request) (string, error)
	// Redeem returns the principal for a ticket that came in a message of a
	// request for which Principal returns [hearken.Unauthorized]. If it is nil,
	// such a request is refused at once.
	Redeem func(r *http.Request, ticket string) (string, error)
	// Subprotocols are those that a browser may ask for if the server reads a
	// key from them. A browser fails if none is agreed to.
	Subprotocols []string
	Log          *slog.Logger
}

// A Handler serves WS /audio/{sessionId}. Its pattern must have a wildcard of
// that name.
type Handler struct {
	cfg           Config
	pingEvery     time.Duration // between two checks of a silent sender
	ticketTimeout time.Duration // for a sender to show a ticket
	conns         *wsconn.Set
}

// New makes a handler.
func New(cfg Config) *Handler {
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	return &Handler{cfg: cfg, pingEvery: 15 * time.Second, ticketTimeout: ticketTimeout, conns: wsconn.NewSet()}
}

// Open is the number of connections.
func (h *Handler) Open() int { return h.conns.Open() }

// Close tells every sender to come back later and waits for the connections to
// end, or for ctx.
func (h *Handler) Close(ctx context.Context) error { return h.conns.Close(ctx) }

// ServeHTTP serves one connection to its end. It reports errors after the
// upgrade, because a browser cannot read a refused one.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		refuse(w, http.StatusUpgradeRequired, hearken.Errorf(hearken.Invalid, "this address takes audio over a WebSocket."))
		return
	}
	if !h.conns.Add() {
		refuse(w, http.StatusServiceUnavailable, hearken.Errorf(hearken.Busy, "the hub is shutting down."))
		return
	}
	defer h.conns.Done()

	c := &conn{h: h}
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		// The server has checked Host and Origin already, with rules that this
		// library does not know.
		InsecureSkipVerify: true,
		Subprotocols:       h.cfg.Subprotocols,
		CompressionMode:    websocket.CompressionDisabled, // audio does not compress, and memory counts
		OnPongReceived:     func(context.Context, []byte) { c.touch() },
	})
	if err != nil {
		return // Accept has answered
	}
	ws.SetReadLimit(-1) // counted here, so that an error frame can come first
	c.ws = ws
	defer func() { _ = ws.CloseNow() }()
	if err := c.attach(r); err != nil {
		c.refuseAndClose(err)
		return
	}
	c.serve()
}

// refuse answers a request that is not a WebSocket.
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
