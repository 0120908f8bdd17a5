// Package web is the hub's page: where its owner sees what agents want done,
// and allows or refuses it.
//
// The page lies under /approvals and signs its owner in by itself, with the
// owner's PIN; an agent's key opens nothing here. A browser shows everything
// it is given to whoever can lay hands on its profile, and sends a cookie to
// every port of this computer. So the cookie only lets the page look; what
// changes anything needs a token that exists in the page's memory alone, and
// that only the PIN brings there.
package web

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	"github.com/hearken-dev/hearken/live"
)

// A Queue is where actions are dealt with; see [act.Queue].
type Queue interface {
	Decide(ctx context.Context, v act.DecisionRequest) (a *hearken.Action, decided bool, err error)
	Cancel(ctx context.Context, principal, id string) (*hearken.Action, error)
	Actions(ctx context.Context, f hearken.ActionFilter) ([]hearken.Action, error)
	Grants(ctx context.Context) ([]hearken.Grant, error)
	RevokeGrant(ctx context.Context, id string) (*hearken.Grant, error)
	Pause(ctx context.Context, paused bool, from string) error
	Paused() bool
	Changes() <-chan struct{}
	Problem() error
}

// An Owner knows the person's PIN; see [owner.Owner].
type Owner interface {
	HasPIN() bool
	SetPIN(old, new string) error
	Check(pin string) error
}

// Transcripts are the sessions that the words behind an action stand in; see
// [live.Hub].
type Transcripts interface {
	Read(ctx context.Context, req live.ReadRequest) (*live.Page, error)
}

// Config is what a [Handler] is made of. Desk and Owner are required.
type Config struct {
	Desk  Queue
	Owner Owner
	// SetupCode is the code that the hub printed on the owner's terminal, with
	// which the page may set the first PIN; empty if there is none.
	SetupCode func() string
	// Keys name who asks for actions; nil shows ids.
	Keys interface {
		Keys(ctx context.Context) ([]hearken.Key, error)
	}
	// Transcripts show what was said around the words; nil shows the words.
	Transcripts Transcripts
	// Audit is told of wrong PINs and of a PIN that was set here; may be nil.
	Audit hearken.Audit
	// PublicURL is where a proxy serves the hub; may be empty.
	PublicURL string

	Log *slog.Logger
	Now func() time.Time
}

// A Handler serves the page. Its methods may be called concurrently.
type Handler struct {
	cfg      Config
	log      *slog.Logger
	sessions sessions
	setup    setup
	wrong    wrong
	mux      *http.ServeMux
}

// A Route is a pattern to mount, as [http.ServeMux] has them.
type Route struct {
	Pattern string
	Handler http.Handler
	Stream  bool // may last for hours
}

// New makes the page.
func New(cfg Config) *Handler {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.SetupCode == nil {
		cfg.SetupCode = func() string { return "" }
	}
	cfg.PublicURL = strings.TrimSuffix(cfg.PublicURL, "/")
	h := &Handler{cfg: cfg, log: cfg.Log, mux: http.NewServeMux()}
	h.sessions.now = cfg.Now
	h.wrong = wrong{audit: cfg.Audit, log: cfg.Log, now: cfg.Now}
	h.files()
	h.mux.HandleFunc("GET /approvals/api/me", h.me)
	h.mux.Handle("POST /approvals/api/login", h.samePage(h.unread(h.login)))
	h.mux.Handle("POST /approvals/api/setup", h.samePage(h.unread(h.setPIN)))
	h.mux.Handle("POST /approvals/api/logout", h.signed(h.logout))
	h.mux.Handle("GET /approvals/api/events", h.seen(h.events))
	h.mux.Handle("GET /approvals/api/sessions/{id}", h.seen(h.transcript))
	h.mux.Handle("POST /approvals/api/actions/{id}/decision", h.signed(h.decide))
	h.mux.Handle("POST /approvals/api/actions/{id}/cancel", h.signed(h.cancel))
	h.mux.Handle("POST /approvals/api/grants/{id}/revoke", h.signed(h.revoke))
	h.mux.Handle("POST /approvals/api/pause", h.signed(h.pause))
	return h
}

// Routes are what to mount, open to visitors without a key: the page asks for
// the PIN itself. Host and Origin are checked by whoever mounts them, and once
// more here for everything that changes something.
func (h *Handler) Routes() []Route {
	return []Route{
		{Pattern: "/approvals", Handler: h},
		{Pattern: "/approvals/", Handler: h},
		{Pattern: "GET /approvals/api/events", Handler: h, Stream: true},
	}
}

// SignOut ends every session, as a new PIN should.
func (h *Handler) SignOut() { h.sessions.endAll() }

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	secure(w.Header())
	h.mux.ServeHTTP(w, r)
}
