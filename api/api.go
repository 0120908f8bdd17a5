// Package api is the hub's HTTP server: it authenticates every request and
// passes it to the part of the hub that answers.
//
// It serves MCP in every form that clients speak (Streamable HTTP of all
// protocol versions, the old SSE form, bare JSON-RPC, WebSocket), the audio
// WebSocket, and the health and metrics endpoints. One guard checks every
// route: see [Access] for what a route requires. Other packages put their own
// routes behind the same guard with [API.Mount].
package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/hearken-dev/hearken"
)

// Config configures an [API]. MCP and Keys are required.
type Config struct {
	// MCP returns the MCP server for a caller. It is called for each request, so
	// it should return the same server for equal callers.
	MCP func(hearken.Caller) *mcp.Server
	// Audio serves /audio/{sessionId}, which the request's PathValue holds.
	Audio http.Handler
	// CheckTicket checks a ticket for sending audio to a session, and returns
	// the principal that owns the session.
	CheckTicket func(session, ticket string) (principal string, ok bool)
	// Keys lists all keys, revoked ones included.
	Keys interface {
		Keys(ctx context.Context) ([]hearken.Key, error)
	}
	// Ready returns why the hub cannot serve; nil if it can.
	Ready func(ctx context.Context) error
	// OnRefused is called for every refused request, with the client's address,
	// the route and the reason. It may be nil, and should return soon.
	OnRefused func(ctx context.Context, addr, route string, code hearken.Code)

	Host      string   // the address to listen on; empty for 127.0.0.1
	Port      int      // if another program uses it, another port is taken
	LastPort  int      // the port of the last run, tried before any free one
	WSListen  string   // address and port of a separate MCP WebSocket listener; empty for none
	PublicURL string   // where a proxy serves the hub
	Origins   []string // other origins whose pages may use the hub

	AuthRequired bool // require a key even on loopback
	TLS          TLS
	Limits       Limits

	Registry *prometheus.Registry // where metrics are registered, and what /metrics shows
	Log      *slog.Logger
}

// An API is the hub's HTTP server. [New] opens its listeners, so its addresses
// are known before [API.Serve] answers requests.
type API struct {
	cfg     Config
	log     *slog.Logger
	limits  Limits
	metrics *metrics
	hosts   hostPolicy
	keys    *keyring
	guesses *guessLimiter
	tickets *tickets
	cert    *certificate // nil if no listener uses TLS

	main, ws *listener // ws is nil if WSListen is empty
	mux      *http.ServeMux
	wsMux    *http.ServeMux

	mcp              *mcpTransport
	sse              *sseTransport
	wsmcp            *wsTransport
	closing          context.Context // ends when the listeners begin to close
	close            context.CancelCauseFunc
	handling         sync.WaitGroup // running handlers, also those of hijacked connections
	draining         atomic.Bool
	warnOwnerUnknown sync.Once
}

// New opens the listeners and registers every route.
func New(cfg Config) (*API, error) {
	if cfg.MCP == nil || cfg.Keys == nil {
		return nil, errors.New("api: MCP and Keys are required")
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Registry == nil {
		cfg.Registry = prometheus.NewRegistry()
	}
	a := &API{
		cfg:    cfg,
		log:    cfg.Log,
		limits: cfg.Limits.withDefaults(),
		mux:    http.NewServeMux(),
		wsMux:  http.NewServeMux(),
	}
	a.closing, a.close = context.WithCancelCause(context.Background())
	a.metrics = newMetrics(cfg.Registry)
	a.keys = newKeyring(cfg.Keys, cfg.Log)
	a.keys.onRevoke = func(principal string) {
		a.handling.Go(func() { a.mcp.sessions.endAllOf(principal) })
	}
	a.guesses = newGuessLimiter()
	a.tickets = newTickets()
	if err := a.open(); err != nil {
		a.Close()
		return nil, err
	}
	a.mcp = newMCPTransport(a)
	a.sse = newSSETransport(a)
	a.wsmcp = newWSTransport(a)
	a.routes()
	return a, nil
}

// open opens the listeners and, for those that need it, the certificate.
func (a *API) open() error {
	public, err := parsePublicURL(a.cfg.PublicURL)
	if err != nil {
		return err
	}
	host := a.cfg.Host
	if host == "" {
		host = "127.0.0.1"
	}
	if a.main, err = a.listen(host, a.cfg.Port, a.cfg.LastPort); err != nil {
		return err
	}
	if a.cfg.WSListen != "" {
		host, port, err := splitListen(a.cfg.WSListen)
		if err != nil {
			return err
		}
		if a.ws, err = a.listen(host, port, 0); err != nil {
			return err
		}
	}
	a.hosts, err = newHostPolicy(a.cfg, public)
	return err
}

// routes registers what the package itself serves.
func (a *API) routes() {
	upgrade := a.route("mcp_ws", Access{Key: true, Stream: true, wsTicket: true, rejectWebSocket: a.wsmcp.reject}, a.wsmcp)
	upgrade.rpc = true
	call := a.route("mcp", Access{}, a.mcp)
	call.rpc = true
	stream := a.route("mcp_stream", Access{Stream: true}, a.mcp)
	stream.rpc = true
	a.mux.Handle("/mcp", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case isUpgrade(r):
			upgrade.ServeHTTP(w, r)
		case r.Method == http.MethodGet || r.Header.Get("Mcp-Method") == "subscriptions/listen":
			stream.ServeHTTP(w, r)
		default:
			call.ServeHTTP(w, r)
		}
	}))
	sse := a.route("sse", Access{Stream: true}, a.sse)
	sse.rpc = true
	a.mux.Handle("/sse", sse)
	unknown := a.route("unknown", Access{}, http.HandlerFunc(notFound))
	a.mux.Handle("/", unknown)
	a.wsMux.Handle("/", unknown)
	a.wsMux.Handle("/{$}", upgrade)
	a.wsMux.Handle("/mcp", upgrade)
	ticket := a.route("ws_ticket", Access{Key: true}, http.HandlerFunc(a.wsTicket))
	a.mux.Handle("POST /v1/ws-ticket", ticket)
	a.wsMux.Handle("POST /v1/ws-ticket", ticket)
	if a.cfg.Audio != nil {
		a.mux.Handle("/audio/{sessionId}", a.route("audio", Access{Ticket: true, Stream: true}, a.cfg.Audio))
	}
	a.mux.Handle("GET /healthz", a.route("healthz", Access{Open: true}, http.HandlerFunc(a.healthz)))
	a.mux.Handle("GET /readyz", a.route("readyz", Access{Open: true}, http.HandlerFunc(a.readyz)))
	a.mux.Handle("GET /metrics", a.route("metrics", Access{}, a.metrics.handler()))
}

// Mount registers another handler behind the guard. The pattern is one of
// [http.ServeMux]. It must not be called after [API.Serve].
func (a *API) Mount(pattern string, h http.Handler, access Access) {
	_, path, found := strings.Cut(pattern, " ")
	if !found {
		path = pattern
	}
	a.mux.Handle(pattern, a.route(path, access, h))
}

// URL is the hub's HTTP address without a final slash: the public URL if there
// is one.
func (a *API) URL() string {
	if a.hosts.public != nil {
		return strings.TrimSuffix(a.hosts.public.String(), "/")
	}
	return a.main.url("http", a.cfg.Host)
}

// Port is the port of the HTTP listener.
func (a *API) Port() int { return int(addrPort(a.main.Addr()).Port()) }

// WSURL is the address of the separate MCP WebSocket listener; empty if there
// is none.
func (a *API) WSURL() string {
	if a.ws == nil {
		return ""
	}
	host, _, _ := splitListen(a.cfg.WSListen)
	return a.ws.url("ws", host)
}

// AudioURL is the wsEndpoint of a session, with the ticket that grants access.
func (a *API) AudioURL(session, ticket string) string {
	u := "ws" + strings.TrimPrefix(a.URL(), "http") + "/audio/" + url.PathEscape(session)
	if ticket != "" {
		u += "?ticket=" + url.QueryEscape(ticket)
	}
	return u
}

// Pin is the SHA-256 of the public key of the hub's self-signed certificate, in
// the form of curl's --pinnedpubkey; empty if the hub did not make one.
func (a *API) Pin() string {
	if a.cert == nil {
		return ""
	}
	return a.cert.pin
}

// Exposed reports whether other computers can reach a listener, and whether one
// of those listeners has no TLS, which deserves a warning.
func (a *API) Exposed() (exposed, plain bool) {
	for _, d := range []*listener{a.main, a.ws} {
		if d != nil && !d.loopback {
			exposed = true
			plain = plain || d.tls == nil
		}
	}
	return exposed, plain
}

// Traffic counts the open connections and the requests answered so far. It shows
// whether anybody uses the hub.
func (a *API) Traffic() (connections, requests int64) {
	return a.metrics.open.Load(), a.metrics.answered.Load()
}

func parsePublicURL(s string) (*url.URL, error) {
	if s == "" {
		return nil, nil
	}
	u, err := url.Parse(s)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return nil, hearken.Errorf(hearken.Invalid, "PUBLIC_URL is not an http or https address: %q.", s).WithTry("PUBLIC_URL=https://hearken.example.org")
	}
	return u, nil
}

// server returns the MCP server for the caller that the guard let in.
func (a *API) server(ctx context.Context, transport hearken.Transport) (*mcp.Server, error) {
	caller := CallerFrom(ctx)
	if caller == nil {
		return nil, errors.New("no caller")
	}
	c := *caller
	c.Transport = transport
	s := a.cfg.MCP(c)
	if s == nil {
		return nil, fmt.Errorf("no server for %s", c.Principal)
	}
	return s, nil
}
