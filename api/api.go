// Package api is the hub's HTTP server: it authenticates every request and
// passes it to the part of the hub that answers.
//
// It serves MCP in every form that clients speak (Streamable HTTP of all
// protocol versions, the old SSE form, bare JSON-RPC, WebSocket), the audio
// WebSocket, and the health and metrics endpoints. One guard checks every
// route: see [RouteAccess] for what a route requires. Other packages put their own
// routes behind the same guard with [API.Mount].
package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/hearken-dev/hearken"
)

// Config configures an [API]. MCP and Keys are required.
type Config struct {
	// MCP returns the MCP server for a caller. It is called for each request, so
	// it should return the same server for equal callers.
	MCP func(hearken.Caller) *mcp.Server
	// Audio serves /audio/{sessionId}, which the request's PathValue holds. A
	// request without a caller may show a ticket later: see [RedeemTicket].
	Audio http.Handler
	// CheckTicket checks a ticket for sending audio to a session, and returns
	// the principal that owns the session.
	CheckTicket func(session, ticket string) (principal string, ok bool)
	Keys        Keys
	// OnResume is called before a client that lost its connection gets what it
	// missed. May be nil.
	OnResume func(principal string)
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

// Limits bounds what clients can use. Zero values mean the defaults.
type Limits struct {
	Body          int64         // bytes of one MCP message; 4 MiB
	Header        time.Duration // to send a request's header; 10 s
	BodyRead      time.Duration // to send its body; 30 s
	Write         time.Duration // for each single write to get through; 30 s
	Idle          time.Duration // a connection without a request; 2 min
	Ping          time.Duration // between two pings on a WebSocket; 30 s
	Connections   int           // at a time, on all listeners together; 4096
	Sessions      int           // MCP sessions at a time; 1024
	SessionIdle   time.Duration // an MCP session without a request; 1 h
	InFlight      int           // calls at a time on one MCP WebSocket, and in one batch; 64
	Rejections    int           // WebSockets without a valid key that are answered at a time; 8
	RejectionRead time.Duration // to read the message of such a WebSocket, or its ticket; 10 s
	LateTickets   int           // audio WebSockets at a time whose ticket is still to come; 32
	Drain         time.Duration // to finish when the hub stops; 10 s
}

func (l Limits) withDefaults() Limits {
	setDefault(&l.Body, 4<<20)
	setDefault(&l.Header, 10*time.Second)
	setDefault(&l.BodyRead, 30*time.Second)
	setDefault(&l.Write, 30*time.Second)
	setDefault(&l.Idle, 2*time.Minute)
	setDefault(&l.Ping, 30*time.Second)
	setDefault(&l.Connections, 4096)
	setDefault(&l.Sessions, 1024)
	setDefault(&l.SessionIdle, time.Hour)
	setDefault(&l.InFlight, 64)
	setDefault(&l.Rejections, 8)
	setDefault(&l.RejectionRead, 10*time.Second)
	setDefault(&l.LateTickets, 32)
	setDefault(&l.Drain, 10*time.Second)
	return l
}

func setDefault[T ~int | ~int64](v *T, def T) {
	if *v <= 0 {
		*v = def
	}
}

// Keys lists all keys, revoked ones included.
type Keys interface {
	Keys(ctx context.Context) ([]hearken.Key, error)
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
	// lateTickets has one for each WebSocket whose ticket is still to come.
	lateTickets chan struct{}
	cert        *certificate // nil if no listener uses TLS

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

		metrics: newMetrics(cfg.Registry),
		guesses: newGuessLimiter(),
		tickets: newTickets(time.Now),
	}
	a.lateTickets = make(chan struct{}, a.limits.LateTickets)
	a.closing, a.close = context.WithCancelCause(context.Background())
	a.keys = &keyring{store: cfg.Keys, log: cfg.Log, onRevoke: func(principal string) {
		a.handling.Go(func() { a.mcp.sessions.endAllOf(principal) })
	}}
	if err := a.openListeners(); err != nil {
		a.Close()
		return nil, err
	}
	a.mcp = newMCPTransport(a)
	a.sse = newSSETransport(a)
	a.wsmcp = newWSTransport(a)
	a.routes()
	return a, nil
}

// openListeners opens the listeners and, for those that need it, the certificate.
func (a *API) openListeners() error {
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
	upgrade := a.route("mcp_ws", RouteAccess{Key: true, Stream: true, rpc: true, wsTicket: true, rejectWebSocket: a.wsmcp.reject}, a.wsmcp)
	call := a.route("mcp", RouteAccess{rpc: true}, a.mcp)
	stream := a.route("mcp_stream", RouteAccess{Stream: true, rpc: true}, a.mcp)
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
	a.mux.Handle("/sse", a.route("sse", RouteAccess{Stream: true, rpc: true}, a.sse))
	unknown := a.route("unknown", RouteAccess{Open: true}, http.HandlerFunc(notFound))
	a.mux.Handle("/", unknown)
	a.wsMux.Handle("/", unknown)
	a.wsMux.Handle("/{$}", upgrade)
	a.wsMux.Handle("/mcp", upgrade)
	ticket := a.route("ws_ticket", RouteAccess{Key: true}, http.HandlerFunc(a.wsTicket))
	a.mux.Handle("POST /v1/ws-ticket", ticket)
	a.wsMux.Handle("POST /v1/ws-ticket", ticket)
	if a.cfg.Audio != nil {
		audio := a.route("audio", RouteAccess{Ticket: true, Stream: true, lateTicket: true}, a.cfg.Audio)
		a.mux.Handle("/audio/{sessionId}", audio)
		a.mux.HandleFunc("/audio/{sessionId}/{ticket}", func(w http.ResponseWriter, r *http.Request) { audio.ServeHTTP(w, ticketFromPath(r)) })
	}
	a.mux.Handle("GET /healthz", a.route("healthz", RouteAccess{Open: true}, http.HandlerFunc(a.healthz)))
	a.mux.Handle("GET /readyz", a.route("readyz", RouteAccess{Open: true}, http.HandlerFunc(a.readyz)))
	a.mux.Handle("GET /metrics", a.route("metrics", RouteAccess{}, promhttp.HandlerFor(a.cfg.Registry, promhttp.HandlerOpts{})))
}

// Mount registers another handler behind the guard. The pattern is one of
// [http.ServeMux]. It must not be called after [API.Serve].
func (a *API) Mount(pattern string, h http.Handler, access RouteAccess) {
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

// server returns the MCP server for the caller that the guard let in. It is nil
// for the hub's own requests, which end sessions and need none.
func (a *API) server(ctx context.Context, transport hearken.Transport) *mcp.Server {
	caller := CallerFrom(ctx)
	if caller == nil {
		return nil
	}
	c := *caller
	c.Transport = transport
	return a.cfg.MCP(c)
}
