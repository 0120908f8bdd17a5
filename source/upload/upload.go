// Package upload lets programs that were written for OpenAI's transcription
// API send recordings to the hub: it is the door POST
// /v1/audio/transcriptions, with /v1/audio/translations and /v1/models beside
// it. Any of the hub's engines answers, and every upload is a session that is
// remembered and can be searched; its id is the answer's X-Request-Id.
//
// The fields, formats, events and errors are OpenAI's. What differs, because
// the hub is not OpenAI:
//
//   - model: whisper-1 and the gpt-… transcription models stand for the hub's
//     default engine. An engine's own name, such as local, chooses it, and
//     local/base one of its models.
//   - keywords[] and a prompt that is a list of terms ("Aimee, Shawn, BBQ")
//     become the session's vocabulary. A prompt in sentences has no use here.
//   - the content of a file decides what it is, not its name. All channels are
//     mixed.
//   - stream works with every model. Each delta is a confirmed segment: nothing
//     is taken back. Comments keep a quiet connection open.
//   - temperature, chunking_strategy and include[] are checked and change
//     nothing: engines have their own ways. logprobs are never given.
//   - verbose_json: avg_logprob is the logarithm of the segment's confidence,
//     0 if there is none; compression_ratio is computed as Whisper does; seek
//     is the start in hundredths of a second; tokens are empty, temperature
//     and no_speech_prob 0. Words that an engine gave no times get a share of
//     their segment's.
//   - diarized_json: a speaker that the engine does not tell is "unknown".
//   - srt and vtt are cut for reading, as the hub's own exports are.
//
// A recording whose words are not complete, because an engine failed or the
// session was stopped, is an error and never a shorter text. What was heard of
// it stays in the session.
package upload

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/hearken-dev/hearken"
)

// Routes are the patterns under which a [Handler] is to be mounted.
var Routes = []string{
	"/v1/audio/transcriptions",
	"/v1/audio/translations",
	"/v1/models",
	"/v1/models/{model...}",
}

// Sessions is what the door needs of the hub.
type Sessions interface {
	// Start makes a session and returns its id.
	Start(ctx context.Context, req Request) (id string, err error)
	// Attach makes the caller the sender of a session.
	Attach(ctx context.Context, id, principal string) (hearken.Input, error)
}

// A Request asks for a session. Empty fields are the hub's choice.
type Request struct {
	Provider   string
	Model      string // the provider's own name for it
	Language   string
	Title      string // the name of the file
	Vocabulary []string
	Translate  bool
	Principal  string
}

// An Engine is one that a client may choose by its name.
type Engine struct {
	Name string
	// Translates says that the engine has English entries too where they are
	// asked for.
	Translates bool
}

// Config is what a [Handler] is made of. Sessions, Engines, Principal and
// Decode are required.
type Config struct {
	Sessions Sessions
	Engines  []Engine // the first is the default
	// Principal names who sends a request. The door in front has let it in
	// already; an error refuses it all the same.
	Principal func(*http.Request) (string, error)
	// Decode hands out the sound of the file at path, in order, at
	// [hearken.SampleRate], one slice for each channel. What is no sound is an
	// [*hearken.Error] with [hearken.Undecodable]; an error of sink ends it.
	Decode func(ctx context.Context, path string, sink func(channels ...[]int16) error) error
	// Read returns all entries of a session that has stopped, with their words.
	// It is asked where the hub was faster than its events could be taken;
	// without it such a recording fails.
	Read func(ctx context.Context, id string) ([]hearken.Segment, error)

	MaxBytes   int64         // of one file; 25 MiB
	Concurrent int           // uploads at a time; 32
	Ahead      time.Duration // of sound that the engine has not dealt with; 2 min. Must stay well below what the hub spools.
	// TempDir holds the files while they are heard, readable for nobody else.
	// What an earlier hub left there is removed; so it must not be shared. If
	// it is empty, the system's is used and nothing removed.
	TempDir string
	Log     *slog.Logger
}

// tempPattern is what the files are called.
const tempPattern = "hearken-upload-*"

// A Handler serves the [Routes].
type Handler struct {
	cfg      Config
	mux      *http.ServeMux
	slots    chan struct{}
	alive    time.Duration // between two signs of life on a quiet stream
	patience time.Duration // with a client that is silent while it uploads
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
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	h := &Handler{
		cfg: cfg, mux: http.NewServeMux(), slots: make(chan struct{}, cfg.Concurrent),
		alive: 15 * time.Second, patience: 30 * time.Second,
	}
	h.mux.HandleFunc("POST /v1/audio/transcriptions", func(w http.ResponseWriter, r *http.Request) { h.serve(w, r, false) })
	h.mux.HandleFunc("POST /v1/audio/translations", func(w http.ResponseWriter, r *http.Request) { h.serve(w, r, true) })
	h.mux.HandleFunc("GET /v1/models", h.listModels)
	h.mux.HandleFunc("GET /v1/models/{model...}", h.showModel)
	h.mux.HandleFunc("/", notHere)
	h.sweep()
	return h
}

// ServeHTTP serves one request to its end.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.mux.ServeHTTP(w, r) }

// sweep removes what a hub that was killed left behind: it is speech.
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

// serve takes one upload.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request, translate bool) {
	b := h.newBody(w, r)
	f, opts, err := h.take(r, b, translate)
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

// take reads a request and says what it asks for. Without an error the caller
// has one of the slots.
func (h *Handler) take(r *http.Request, b *body, translate bool) (f *form, o *options, err error) {
	principal, err := h.cfg.Principal(r)
	if err != nil {
		return nil, nil, err
	}
	select {
	case h.slots <- struct{}{}:
	default:
		return nil, nil, hearken.Errorf(hearken.Busy, "%d recordings are being heard, which is as many as this hub takes at a time.", h.cfg.Concurrent)
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
