// Package web is the approvals page, where the owner sees what agents want to do
// and allows or denies it.
//
// The page is at /approvals and has its own sign-in, with the owner's PIN; keys
// of agents are useless here. Whoever has access to a browser's profile can read
// its cookies, and a browser sends them to every port of this computer. So the
// cookie only lets the page read. Every change needs a token, which exists only
// in the page's memory and which only the PIN brings there. The one exception is
// undoing what a grant allowed within the last day: that needs no PIN anywhere,
// here or by the link in the owner's notification.
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
	UndoGranted(ctx context.Context, id string) (*hearken.Action, error)
	Action(ctx context.Context, id string) (*hearken.Action, error)
	Actions(ctx context.Context, f hearken.ActionFilter) ([]hearken.Action, error)
	Grants(ctx context.Context) ([]hearken.Grant, error)
	WaitsForCallEnd(a *hearken.Action) bool
	CallEnd(ctx context.Context, session string) time.Time
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
	Session(ctx context.Context, id string) (*hearken.Session, error)
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
	// UndoKey signs the links of [UndoPath]; without one there are none.
	UndoKey []byte
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
	// undoRefusals keeps wrong links from filling the audit.
	undoRefusals act.RefusalThrottle
	mux          *http.ServeMux
}

// A Route is a pattern of [http.ServeMux] and its handler.
type Route struct {
	Pattern string
	Handler http.Handler
	Stream  bool // may last for hours
	Linked  bool // mail and pages of other sites may contain a link to it
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
	h.handle("POST /approvals/api/decide-all", h.requireToken(h.decideAll))
	h.handle("POST /approvals/api/actions/{id}/undo", h.requireSamePage(h.requireSession(h.undoGranted)))
	h.handle("POST /approvals/api/actions/{id}/cancel", h.requireToken(h.cancel))
	h.handle("POST /approvals/api/grants/{id}/revoke", h.requireToken(h.revoke))
	h.handle("POST /approvals/api/pause", h.requireToken(h.pause))
	if len(cfg.UndoKey) > 0 {
		h.mux.HandleFunc("GET /undo/{id}", h.showUndo)
		h.mux.HandleFunc("POST /undo/{id}", h.undoByLink)
	}
	return h
}

// Routes returns what to mount, open to requests without a key: the page itself
// asks for the PIN, and an undo link contains a token. Whoever mounts them checks
// Host and Origin; every change checks Origin again.
func (h *Handler) Routes() []Route {
	return []Route{
		{Pattern: "/approvals", Handler: h},
		{Pattern: "/approvals/", Handler: h},
		{Pattern: "GET /approvals/api/events", Handler: h, Stream: true},
		{Pattern: "/undo/{id}", Handler: h, Linked: true},
	}
}

// SignOut ends every session. It is called after the PIN has changed.
func (h *Handler) SignOut() { h.sessions.end(func(*session) bool { return true }) }

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setSecurityHeaders(w.Header())
	h.mux.ServeHTTP(w, r)
}
