// Package upload lets programs that were written for OpenAI's transcription
// API send recordings to the hub. It serves POST /v1/audio/transcriptions,
// /v1/audio/translations and /v1/models with any of the hub's engines. Every
// upload is a stored session that can be searched; its id is the answer's
// X-Request-Id.
//
// The fields, formats, events and errors are OpenAI's, with these differences:
//
//   - model: whisper-1 and the gpt-… transcription models stand for the hub's
//     default engine. An engine's own name, such as local, chooses it, and
//     local/base one of its models.
//   - keywords[] and a prompt that is a list of terms ("Aimee, Shawn, BBQ")
//     become the session's vocabulary. A prompt in sentences has no effect.
//   - a file is recognised by its content, not by its name. All channels are
//     mixed.
//   - stream works with every model. Each delta is a confirmed segment, so
//     nothing is taken back. Comments keep a quiet connection open.
//   - temperature, chunking_strategy and include[] are checked and have no
//     effect. There are never logprobs.
//   - verbose_json: avg_logprob is the logarithm of the segment's confidence,
//     0 if there is none; compression_ratio is computed as Whisper does; seek
//     is the start in hundredths of a second; tokens are empty, temperature
//     and no_speech_prob 0. Words that an engine gave no times get a share of
//     their segment's.
//   - diarized_json: an unknown speaker is "unknown".
//   - srt and vtt are split for reading, like the hub's own exports.
//
// A recording whose words are not complete, because an engine failed or the
// session was stopped, is an error and never a shorter text. The words so far
// stay in the session.
package upload

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/hearken-dev/hearken"
)

// Routes are the patterns under which a [Handler] must be mounted.
var Routes = []string{
	"/v1/audio/transcriptions",
	"/v1/audio/translations",
	"/v1/models",
	"/v1/models/{model...}",
}

// UnknownRoutes are what clients request whose base URL lacks the /v1, for
// [Unknown].
var UnknownRoutes = []string{"/audio/transcriptions", "/audio/translations", "/models"}

// Sessions is what a [Handler] needs of the hub.
type Sessions interface {
	// Start makes a session, or returns why the engine would not serve it.
	Start(ctx context.Context, req hearken.StartRequest) (*hearken.Session, error)
	// Attach makes the caller the sender of a session.
	Attach(ctx context.Context, id, principal string) (hearken.Input, error)
}

// An Engine is one that a client may choose by name.
type Engine struct {
	Name string
	// Translates says that the engine can also translate into English.
	Translates bool
}

// Config configures a [Handler]. Sessions, Engines, Principal and Decode are
// required.
type Config struct {
	Sessions Sessions
	Engines  []Engine // the first is the default
	// Principal names the sender of a request, which is authenticated already.
	// An error still refuses it.
	Principal func(*http.Request) (string, error)
	// Decode delivers the audio of the file at path in order, mixed to one
	// channel at [hearken.SampleRate]. A file that is not audio is an
	// [*hearken.Error] with [hearken.Undecodable]; an error of sink ends it.
	Decode func(ctx context.Context, path string, sink func(channels ...[]int16) error) error
	// Read returns all entries of a stopped session with their words. It is
	// called if events of the hub were lost; without it such a recording fails.
	Read func(ctx context.Context, id string) ([]hearken.Segment, error)

	MaxBytes   int64         // of one file; 25 MiB
	Concurrent int           // uploads at a time; 32
	Ahead      time.Duration // of audio that waits for the engine; 2 min. Must be well below what the hub spools.
	// TempDir holds the files during transcription, readable only by this user.
	// It must not be shared: files that an earlier hub left there are removed.
	// If it is empty, the system's directory is used and nothing is removed.
	TempDir string
	Log     *slog.Logger
}

// tempPattern is the name of the temporary files.
const tempPattern = "hearken-upload-*"

// A Handler serves the [Routes].
type Handler struct {
	cfg            Config
	mux            *http.ServeMux
	slots          chan struct{}
	keepAliveEvery time.Duration // between two comments on a quiet stream
	readTimeout    time.Duration // for a client that is silent while it uploads
}

// New makes a handler.
func New(cfg Config) *Handler {
	if cfg.MaxBytes <= 0 {
		cfg.MaxBytes = 25 << 20
	}
	if cfg.Concurrent <= 0 {
		cfg.Concurrent = 32
	}
	if cfg.Ahead <= 0 {
		cfg.Ahead = 2 * time.Minute
	}
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	h := &Handler{
		cfg: cfg, mux: http.NewServeMux(), slots: make(chan struct{}, cfg.Concurrent),
		keepAliveEvery: 15 * time.Second, readTimeout: 30 * time.Second,
	}
	h.mux.HandleFunc("POST /v1/audio/transcriptions", func(w http.ResponseWriter, r *http.Request) { h.serve(w, r, false) })
	h.mux.HandleFunc("POST /v1/audio/translations", func(w http.ResponseWriter, r *http.Request) { h.serve(w, r, true) })
	h.mux.HandleFunc("GET /v1/models", h.listModels)
	h.mux.HandleFunc("GET /v1/models/{model...}", h.showModel)
	h.mux.HandleFunc("/", Unknown)
	h.sweep()
	return h
}

// ServeHTTP serves one request to its end.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.mux.ServeHTTP(w, r) }

// sweep removes the files that a killed hub left: they hold speech.
func (h *Handler) sweep() {
	if h.cfg.TempDir == "" {
		return
	}
	old, _ := filepath.Glob(filepath.Join(h.cfg.TempDir, tempPattern))
	for _, path := range old {
		if err := os.Remove(path); err != nil {
			h.cfg.Log.Warn("old upload not removed", "err", err)
		}
	}
}

// serve serves one upload.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request, translate bool) {
	b := h.newBody(w, r)
	f, opts, err := h.readRequest(r, b, translate)
	defer f.remove(h.cfg.Log)
	if err != nil {
		b.drain()
	}
	b.done()
	if err != nil {
		h.fail(w, err)
		return
	}
	defer func() { <-h.slots }()
	h.answer(w, r, f, opts)
}

// readRequest reads a request and its options. If it succeeds, the caller holds
// one of the slots.
func (h *Handler) readRequest(r *http.Request, b *body, translate bool) (f *form, o *options, err error) {
	principal, err := h.cfg.Principal(r)
	if err != nil {
		return nil, nil, err
	}
	select {
	case h.slots <- struct{}{}:
	default:
		return nil, nil, hearken.Errorf(hearken.Busy, "%d recordings are being transcribed, the most that this hub allows at a time.", h.cfg.Concurrent)
	}
	defer func() {
		if err != nil {
			<-h.slots
		}
	}()
	if f, err = h.receive(r, b); err != nil {
		return f, nil, err
	}
	if o, err = h.options(f, translate); err != nil {
		return f, nil, err
	}
	o.request.Principal = principal
	return f, o, nil
}
