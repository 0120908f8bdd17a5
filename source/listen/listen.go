// Package listen serves Deepgram's live transcription API, WS /v1/listen, by
// whatever engine the hub has: a program written for Deepgram points its base
// URL at the hub and works. Every stream is a session of its own that is
// remembered; its id is the request id. A recording is taken as well, as the
// body of POST /v1/listen; its answer holds metadata, channels and, if asked
// for, utterances.
//
// Binary messages are sound; text messages are KeepAlive, Finalize and
// CloseStream; what comes back are Results, SpeechStarted, UtteranceEnd and,
// at the end, Metadata. Times begin at 0 with each connection. A client that
// just goes ends its session as CloseStream does.
//
// # Model
//
// A model of Deepgram's (nova-3 and its kin) or none means the hub's default
// engine. The name of one of the hub's engines, such as "local" or "openai",
// chooses that, and "openai/whisper-1" one of its models. Deepgram's own names
// reach Deepgram if that is the default engine, or as "deepgram/nova-2".
//
// # Parameters
//
// Honoured: encoding (linear16, linear32, mulaw, alaw; flac, opus and ogg-opus
// in their containers; none for WAV, Ogg, WebM, FLAC and MP3, which are
// recognised), sample_rate, channels (1 or 2), multichannel, language,
// interim_results, endpointing, utterance_end_ms, vad_events, diarize and
// diarize_model, punctuate and smart_format (the engines always punctuate;
// without either the marks and capitals are taken off), keyterm, keywords
// (their weights are cut off), tag (the session's title) and extra.
//
// Accepted without effect, because the transcript is still right without it:
// alternatives, callback_method, detect_entities, dictation, filler_words,
// measurements, mip_opt_out, no_delay, numerals, profanity_filter, replace,
// search, tier, version, and names that are unknown.
//
// Refused with 400: what would break a promise if it were passed over. That is
// redact, callback and detect_language, the encodings amr-nb, amr-wb, speex
// and g729, more than two channels, a language that the engine does not have,
// and values that are no values.
//
// # Ends
//
//	1000            after Metadata
//	1008 DATA-0000  sound that cannot be decoded, or text that is no JSON
//	1009            a text message of more than 64 KiB
//	1011 NET-0000   the engine failed
//	1011 NET-0001   no sound within 10 s of the start, or neither sound nor
//	                text for 10 s after it
//	1001            the hub ends
//
// Where Deepgram's documents leave it open: an empty binary message ends the
// stream like CloseStream, as it did in older versions of the API. A Finalize
// is always answered by Results with from_finalize, if only by empty ones.
// Text of an unknown type is passed over. A sender that is faster than real
// time is made to wait before the hub would have to drop sound. Words that a
// failing engine left behind and another heard later come as Results of their
// own place in time.
package listen

import (
	"context"
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
	// Start makes a session, or says why the engine would not serve it.
	Start(ctx context.Context, req Request) (*hearken.Session, error)
	// Attach makes the caller the sender of a session.
	Attach(ctx context.Context, id, principal string) (hearken.Input, error)
}

// A Request is what a stream asks of its session.
type Request struct {
	Provider    string // empty for the hub's default
	Model       string // the provider's own name for it; empty for its default
	Language    string // empty for the hub's default
	Title       string
	Vocabulary  []string
	Endpointing time.Duration // see [hearken.StreamConfig]
	Principal   string
}

// Config is what a [Handler] is made of. Sessions and Principal are required.
type Config struct {
	Sessions Sessions
	// Principal names who sends a request. The door in front has let it in
	// already; an error refuses it all the same.
	Principal func(*http.Request) (string, error)
	// Providers are the names of the hub's engines; the first is the default.
	Providers []string
	// Version is the hub's, for the model_info of results.
	Version string
	// Ahead is how much sound may wait for the engine before a sender that is
	// faster than real time has to wait too: less than the hub's spool takes.
	// It is 2 minutes unless set.
	Ahead time.Duration
	Log   *slog.Logger
}

// A Handler serves /v1/listen.
type Handler struct {
	cfg     Config
	idle    time.Duration // without a sign of the sender
	drain   time.Duration // for the last words when the hub ends
	write   time.Duration // for one message to a reader that is slow
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
	if cfg.Ahead <= 0 {
		cfg.Ahead = 2 * time.Minute
	}
	return &Handler{
		cfg: cfg, idle: 10 * time.Second, drain: 5 * time.Second, write: 30 * time.Second,
		closing: make(chan struct{}), empty: make(chan struct{}),
	}
}

// Open is the number of connections.
func (h *Handler) Open() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.open
}

// Close ends every stream as if its sender had, and waits for the connections
// to end, or for ctx. It comes before the hub's own Close, so that the last
// words still reach who said them.
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

// ServeHTTP serves one stream or recording to its end. What is wrong with a request is said
// before the upgrade, as Deepgram does.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost && !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		w.Header().Set("Connection", "Upgrade")
		w.Header().Set("Upgrade", "websocket")
		Refuse(w, http.StatusUpgradeRequired, hearken.Errorf(hearken.Invalid, "Live sound comes over a WebSocket, and a recording by POST."))
		return
	}
	if !h.enter() {
		Refuse(w, http.StatusServiceUnavailable, errClosing)
		return
	}
	defer h.leave()
	if r.Method == http.MethodPost {
		h.transcribe(w, r)
		return
	}
	if r.Header.Get("Sec-WebSocket-Version") != "13" || r.Header.Get("Sec-WebSocket-Key") == "" || r.ProtoMajor != 1 {
		w.Header().Set("Sec-WebSocket-Version", "13")
		Refuse(w, http.StatusUpgradeRequired, hearken.Errorf(hearken.Invalid, "This is no handshake of a WebSocket, version 13."))
		return // before there is a session that nobody will use
	}
	c, err := h.begin(r)
	if err != nil {
		h.refuse(w, err)
		return
	}
	defer c.leave()
	w.Header().Set("dg-request-id", c.session.ID)
	c.ws, err = websocket.Accept(w, r, &websocket.AcceptOptions{
		// The door in front has checked Host and Origin on every route, with
		// rules that this library does not know.
		InsecureSkipVerify: true,
		Subprotocols:       []string{"token", "bearer"},
		CompressionMode:    websocket.CompressionDisabled, // sound does not compress, and memory counts
	})
	if err != nil {
		return // Accept has answered
	}
	c.ws.SetReadLimit(-1) // text is counted here; sound is decoded as it comes
	defer func() { _ = c.ws.CloseNow() }()
	c.serve()
}

var errClosing = hearken.Errorf(hearken.Busy, "The hub is shutting down.")

// begin makes the session of a stream and takes the sender's place in it.
func (h *Handler) begin(r *http.Request) (*conn, error) {
	principal, err := h.cfg.Principal(r)
	if err != nil {
		return nil, err
	}
	opts, err := parseOptions(r.URL.RawQuery, h.cfg.Providers)
	if err != nil {
		return nil, err
	}
	opts.Principal = principal
	session, err := h.cfg.Sessions.Start(r.Context(), opts.Request)
	if err != nil {
		return nil, err
	}
	in, err := h.cfg.Sessions.Attach(r.Context(), session.ID, principal)
	if err != nil {
		return nil, err
	}
	return newConn(r.Context(), h, opts, session, in), nil
}
