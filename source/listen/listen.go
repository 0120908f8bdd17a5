// Package listen serves Deepgram's live transcription API, WS /v1/listen, with
// any engine of the hub: a program written for Deepgram points its base URL at
// the hub and works. Every stream is a stored session of its own; its id is the
// request id. POST /v1/listen accepts a recording as its body; the answer holds
// metadata, channels and, if asked for, utterances and paragraphs. Recordings in
// other formats than those below, such as M4A, AAC, AIFF and Vorbis, need ffmpeg.
// Flux, /v2/listen, is not served: see [Unknown].
//
// Binary messages are audio; text messages are KeepAlive, Finalize and
// CloseStream. The hub sends Results, SpeechStarted, UtteranceEnd and, at the
// end, Metadata. Times begin at 0 with each connection. A client that
// disconnects ends its session as CloseStream does.
//
// # Model
//
// A model of Deepgram's (nova-3 and its kin) or none means the hub's default
// engine. The name of one of the hub's engines, such as "local" or "openai",
// chooses that, and "openai/whisper-1" one of its models. Deepgram's own names
// mean Deepgram if that is the default engine, or as "deepgram/nova-2".
//
// # Parameters
//
// Honoured: encoding (linear16, linear32, mulaw, alaw; flac, opus and ogg-opus
// in their containers; none for WAV, Ogg, WebM, FLAC and MP3, which are
// recognised), sample_rate, channels (1 or 2), multichannel, language,
// interim_results, endpointing, utterance_end_ms, vad_events, diarize and
// diarize_model, punctuate and smart_format (the engines always punctuate;
// without either, punctuation and capitals are removed), keyterm, keywords
// (their weights are ignored), tag (the session's title) and extra; of a
// recording also utterances and paragraphs, which smart_format includes.
//
// What had no effect is named in the warnings of the metadata: diarize with an
// engine that does not tell speakers apart, and an encoding that seems to be
// another.
//
// Accepted without effect, because the transcript is still right without them:
// alternatives, callback_method, detect_entities, dictation, filler_words,
// measurements, mip_opt_out, no_delay, numerals, profanity_filter, replace,
// search, tier, version, and unknown names.
//
// Refused with 400, because ignoring it would break a promise: redact, callback
// and detect_language, the encodings amr-nb, amr-wb, speex and g729, more than
// two channels, a language that the engine does not have, and invalid values.
//
// # Close codes
//
//	1000            after Metadata
//	1008 DATA-0000  audio that cannot be decoded, or text that is not JSON
//	1009            a text message of more than 64 KiB
//	1011 NET-0000   the engine failed
//	1011 NET-0001   no audio within 10 s of the start, or neither audio nor
//	                text for 10 s after it
//	1001            the hub is closing
//
// Where Deepgram's documentation leaves it open: an empty binary message ends
// the stream like CloseStream, as in older versions of the API. A Finalize is
// always answered by Results with from_finalize, even if they are empty. Text
// of an unknown type is ignored. A sender that is faster than real time has to
// wait before the hub would have to drop audio. Words that were transcribed
// late, after an engine failed, come as Results with their own times.
package listen

import (
	"cmp"
	"context"
	"io"
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
	// Start makes a session, or returns why the engine would not serve it.
	Start(ctx context.Context, req hearken.StartRequest) (*hearken.Session, error)
	// Attach makes the caller the sender of a session.
	Attach(ctx context.Context, id, principal string) (hearken.Input, error)
}

// Config configures a [Handler]. Sessions and Principal are required.
type Config struct {
	Sessions Sessions
	// Principal names the sender of a request, which is authenticated already.
	// An error still refuses it.
	Principal func(*http.Request) (string, error)
	// Providers are the names of the hub's engines; the first is the default.
	Providers []string
	// Version is the hub's, for the model_info of results.
	Version string
	// Decode delivers a recording in a format that package audio does not know,
	// at [hearken.SampleRate], with its two channels apart if separate is set.
	// Audio that cannot be decoded is an [*hearken.Error] with
	// [hearken.Undecodable]; an error of sink ends it. If it is nil, such
	// recordings are refused.
	Decode func(ctx context.Context, body io.Reader, separate bool, sink func(channels ...[]int16) error) error
	// MaxBytes is the most that Decode may have to read; 25 MiB.
	MaxBytes int64
	// Ahead is how much audio may wait for the engine before a sender that is
	// faster than real time has to wait too. It must be less than the hub can
	// spool. The default is 2 minutes.
	Ahead time.Duration
	Log   *slog.Logger
}

// A Handler serves /v1/listen.
type Handler struct {
	cfg   Config
	idle  time.Duration // without any message
	drain time.Duration // for the last words when the hub closes
	write time.Duration // for one message to a slow reader
	conns *wsconn.Set
}

// New makes a handler.
func New(cfg Config) *Handler {
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	if cfg.Ahead <= 0 {
		cfg.Ahead = 2 * time.Minute
	}
	if cfg.MaxBytes <= 0 {
		cfg.MaxBytes = 25 << 20
	}
	return &Handler{
		cfg: cfg, idle: 10 * time.Second, drain: 5 * time.Second, write: 30 * time.Second,
		conns: wsconn.NewSet(),
	}
}

// Open is the number of connections.
func (h *Handler) Open() int { return h.conns.Open() }

// Close ends every stream as if its sender had, and waits for the connections
// to end, or for ctx. Call it before the hub's own Close, so that clients still
// get the last words.
func (h *Handler) Close(ctx context.Context) error { return h.conns.Close(ctx) }

// ServeHTTP serves one stream or recording to its end. It refuses a wrong
// request before the upgrade, as Deepgram does.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost && !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		w.Header().Set("Connection", "Upgrade")
		w.Header().Set("Upgrade", "websocket")
		Refuse(w, http.StatusUpgradeRequired, hearken.Errorf(hearken.Invalid, "Send live audio over a WebSocket and a recording by POST."))
		return
	}
	if !h.conns.Add() {
		Refuse(w, http.StatusServiceUnavailable, errClosing)
		return
	}
	defer h.conns.Done()
	if r.Method == http.MethodPost {
		h.transcribe(w, r)
		return
	}
	if r.Header.Get("Sec-WebSocket-Version") != "13" || r.Header.Get("Sec-WebSocket-Key") == "" || r.ProtoMajor != 1 {
		w.Header().Set("Sec-WebSocket-Version", "13")
		Refuse(w, http.StatusUpgradeRequired, hearken.Errorf(hearken.Invalid, "This is not a WebSocket handshake of version 13."))
		return // before it makes a session that nobody will use
	}
	c, err := h.begin(r)
	if err != nil {
		h.refuse(w, err)
		return
	}
	defer c.close()
	w.Header().Set("dg-request-id", c.session.ID)
	c.ws, err = websocket.Accept(w, r, &websocket.AcceptOptions{
		// The server has checked Host and Origin already, with rules that this
		// library does not know.
		InsecureSkipVerify: true,
		Subprotocols:       []string{"token", "bearer"},
		CompressionMode:    websocket.CompressionDisabled, // audio does not compress, and memory counts
	})
	if err != nil {
		return // Accept has answered
	}
	c.ws.SetReadLimit(-1) // text is limited here; audio is decoded as it comes
	defer func() { _ = c.ws.CloseNow() }()
	c.serve()
}

// isClosing reports whether the hub is closing.
func (h *Handler) isClosing() bool {
	select {
	case <-h.conns.Closing():
		return true
	default:
		return false
	}
}

var errClosing = hearken.Errorf(hearken.Busy, "The hub is shutting down.")

// begin makes the session of a stream and attaches to it.
func (h *Handler) begin(r *http.Request) (*conn, error) {
	principal, err := h.cfg.Principal(r)
	if err != nil {
		return nil, err
	}
	opts, err := parseOptions(r.URL.RawQuery, h.cfg.Providers)
	if err != nil {
		return nil, err
	}
	opts.Principal, opts.Recorded = principal, r.Method == http.MethodPost
	session, err := h.cfg.Sessions.Start(r.Context(), opts.StartRequest)
	if err != nil {
		return nil, err
	}
	in, err := h.cfg.Sessions.Attach(r.Context(), session.ID, principal)
	if err != nil {
		return nil, err
	}
	return newConn(r.Context(), h, opts, session, in), nil
}
