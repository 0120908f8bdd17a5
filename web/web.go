// Package web is the approvals page, where the owner sees what agents want to do
// and allows or denies it.
//
// The page is at /approvals and has its own sign-in, with the owner's PIN; keys
// of agents are useless here. Whoever has access to a browser's profile can read
// its cookies, and a browser sends them to every port of this computer. So the
// cookie only lets the page read. Every change needs a token, which exists only
// in the page's memory and which only the PIN brings there.
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

// A Queue holds the actions; see [act.Queue].
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

// An Owner checks and sets the PIN; see [owner.Owner].
type Owner interface {
	HasPIN() bool
	SetPIN(old, new string) error
	Check(pin string) error
}

// Transcripts reads the sessions that the words behind an action come from; see
// [live.Hub].
type Transcripts interface {
	Read(ctx context.Context, req live.ReadRequest) (*live.Page, error)
}

// Config configures a [Handler]. Queue and Owner are required.
type Config struct {
	Queue Queue
	Owner Owner
	// SetupCode returns the code that the hub printed in the owner's terminal and
	// that lets the page set the first PIN; empty if there is none.
	SetupCode func() string
	// Keys supplies the names of keys; nil shows ids.
	Keys interface {
		Keys(ctx context.Context) ([]hearken.Key, error)
	}
	// Transcripts supplies what was said around the words; nil shows none of it.
	Transcripts Transcripts
	// Audit records wrong PINs and a PIN that was set here; may be nil.
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
	audit    pageAudit
	mux      *http.ServeMux
}

// A Route is a pattern of [http.ServeMux] and its handler.
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
	h.audit = pageAudit{audit: cfg.Audit, log: cfg.Log, now: cfg.Now}
	h.serveFiles()
	h.handle("GET /approvals/api/me", h.signInState)
	h.handle("POST /approvals/api/login", h.requireSamePage(h.requirePrivate(h.login)))
	h.handle("POST /approvals/api/setup", h.requireSamePage(h.requirePrivate(h.setPIN)))
	h.handle("POST /approvals/api/logout", h.requireToken(h.logout))
	h.handle("GET /approvals/api/events", h.requireSession(h.events))
	h.handle("GET /approvals/api/sessions/{id}", h.requireSession(h.transcript))
	h.handle("POST /approvals/api/actions/{id}/decision", h.requireToken(h.decide))
	h.handle("POST /approvals/api/actions/{id}/cancel", h.requireToken(h.cancel))
	h.handle("POST /approvals/api/grants/{id}/revoke", h.requireToken(h.revoke))
	h.handle("POST /approvals/api/pause", h.requireToken(h.pause))
	return h
}

// Routes returns what to mount, open to requests without a key: the page itself
// asks for the PIN. Whoever mounts them checks Host and Origin; every change
// checks Origin again.
func (h *Handler) Routes() []Route {
	return []Route{
		{Pattern: "/approvals", Handler: h},
		{Pattern: "/approvals/", Handler: h},
		{Pattern: "GET /approvals/api/events", Handler: h, Stream: true},
	}
}

// SignOut ends every session. It is called after the PIN has changed.
func (h *Handler) SignOut() { h.sessions.end(func(*session) bool { return true }) }

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setSecurityHeaders(w.Header())
	h.mux.ServeHTTP(w, r)
}
