// Package api is the hub's doors: everything that reaches Hearken over a
// socket comes in here, is asked who it is, and is sent on to the part that
// answers.
//
// The doors are MCP in every form that clients speak (Streamable HTTP of all
// protocol versions, the old SSE form, bare JSON-RPC, WebSocket), the audio
// WebSocket, and the three that operators look at. One guard stands before
// all of them: see [Access] for what a route asks of its visitors. Other
// packages put their own routes behind the same guard with [API.Mount].
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

// Config is what an [API] is made of. MCP and Keys are required.
type Config struct {
	// MCP makes the MCP server for a caller. It is asked once for each caller
	// and door; the server is kept for as long as the caller's key is good.
	MCP func(Caller) *mcp.Server
	// Audio serves /audio/{sessionId}, which the request's PathValue holds.
	Audio http.Handler
	// CheckTicket says whose session a ticket opens for sending sound.
	CheckTicket func(session, ticket string) (principal string, ok bool)
	// Keys lists all keys, revoked ones included.
	Keys interface {
		Keys(ctx context.Context) ([]hearken.Key, error)
	}
	// Ready says why the hub cannot serve yet, or any more.
	Ready func(ctx context.Context) error
	// Refused is told of everybody who is not let in: from where, to which
	// route, and why. It may be nil, and should return soon; how much of it is
	// worth keeping is its own to say.
	Refused func(ctx context.Context, addr, route string, code hearken.Code)

	Host      string // the address to listen on; empty for 127.0.0.1
	Port      int    // another one is taken if somebody else has it
	LastPort  int    // the one it had before, which is tried before any free one
	WSListen  string // address and port of the MCP WebSocket door; empty for none
	PublicURL string // where a proxy serves the hub
	Hosts     []string
	Origins   []string // other origins whose pages may use the hub

	AuthRequired bool // a key even on loopback
	TLS          TLS
	Limits       Limits

	Registry *prometheus.Registry // where the metrics go, and what /metrics shows
	Log      *slog.Logger
}

// A Caller is who an MCP server is for.
type Caller struct {
	Principal string   // "loopback" or the id of a key
	Keyed     bool     // whether a key was shown
	Toolsets  []string // what the key may use; empty is everything
	Approver  string   // who approves what the key asks for; see [hearken.Key]
	Door      string   // "http", "sse" or "ws"
}

// An API is the hub's doors. Its listeners are open from [New] on, so its
// addresses are known before [API.Serve] answers anybody.
type API struct {
	cfg     Config
	log     *slog.Logger
	limits  Limits
	metrics *metrics
	names   names
	keys    *keyring
	logins  *logins
	tickets *tickets
	cert    *certificate // nil where no door speaks TLS
	servers servers

	main, ws *door // ws is nil if there is no separate door
	mux      *http.ServeMux
	wsMux    *http.ServeMux
	rooted   bool // whether somebody mounted "/"

	mcp      *mcpDoor
	sse      *sseDoor
	wsmcp    *wsDoor
	closing  context.Context // ends when the doors begin to close
	close    context.CancelCauseFunc
	handling sync.WaitGroup // handlers that run, also on hijacked connections
	draining atomic.Bool
	noTable  sync.Once
}

// New opens the listeners and prepares every route.
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
		a.servers.forget(principal)
		a.handling.Go(func() { a.mcp.sessions.endOf(principal) })
	}
	a.logins = newLogins()
	a.tickets = newTickets()
	if err := a.open(); err != nil {
		a.Close()
		return nil, err
	}
	a.mcp = newMCPDoor(a)
	a.sse = newSSEDoor(a)
	a.wsmcp = newWSDoor(a)
	a.routes()
	return a, nil
}

// open takes the ports and, where a door is not on loopback, the certificate.
func (a *API) open() error {
	public, err := parsePublicURL(a.cfg.PublicURL)
	if err != nil {
		return err
	}
	host := a.cfg.Host
	if host == "" {
		host = "127.0.0.1"
	}
	if a.main, err = a.openDoor(host, a.cfg.Port, a.cfg.LastPort); err != nil {
		return err
	}
	if a.cfg.WSListen != "" {
		host, port, err := splitListen(a.cfg.WSListen)
		if err != nil {
			return err
		}
		if a.ws, err = a.openDoor(host, port, 0); err != nil {
			return err
		}
	}
	a.names, err = newNames(a.cfg, public)
	return err
}

// routes mounts what the package itself serves.
func (a *API) routes() {
	upgrade := a.route("mcp_ws", Access{Key: true, Stream: true, once: true, stranger: a.wsmcp.stranger}, a.wsmcp)
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
	a.wsMux.Handle("/", a.route("unknown", Access{}, http.HandlerFunc(notFound)))
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

// Mount puts another handler behind the guard, under a pattern as
// [http.ServeMux] has them. It may not be called after [API.Serve].
func (a *API) Mount(pattern string, h http.Handler, access Access) {
	_, path, found := strings.Cut(pattern, " ")
	if !found {
		path = pattern
	}
	a.rooted = a.rooted || path == "/"
	a.mux.Handle(pattern, a.route(path, access, h))
}

// Guard puts another handler behind the guard without mounting it, for routes
// that share a pattern.
func (a *API) Guard(name string, h http.Handler, access Access) http.Handler {
	return a.route(name, access, h)
}

// URL is where the hub's HTTP doors are, without a final slash: the public
// URL if there is one.
func (a *API) URL() string {
	if a.names.public != nil {
		return strings.TrimSuffix(a.names.public.String(), "/")
	}
	return a.main.url("http", a.cfg.Host)
}

// Port is the port of the HTTP doors.
func (a *API) Port() int { return int(addrPort(a.main.listener.Addr()).Port()) }

// WSURL is where the separate MCP WebSocket door is; empty if there is none.
func (a *API) WSURL() string {
	if a.ws == nil {
		return ""
	}
	host, _, _ := splitListen(a.cfg.WSListen)
	return a.ws.url("ws", host)
}

// AudioURL is the wsEndpoint of a session, with the ticket that opens it.
func (a *API) AudioURL(session, ticket string) string {
	u := "ws" + strings.TrimPrefix(a.URL(), "http") + "/audio/" + url.PathEscape(session)
	if ticket != "" {
		u += "?ticket=" + url.QueryEscape(ticket)
	}
	return u
}

// Pin is the SHA-256 of the public key of the certificate that the hub made
// for itself, in the form that curl's --pinnedpubkey takes; empty if it did
// not make one.
func (a *API) Pin() string {
	if a.cert == nil {
		return ""
	}
	return a.cert.pin
}

// Exposed reports whether a door is reachable from other computers, and
// whether one of those is without TLS, which deserves a loud word.
func (a *API) Exposed() (exposed, plain bool) {
	for _, d := range []*door{a.main, a.ws} {
		if d != nil && !d.loopback {
			exposed = true
			plain = plain || d.tls == nil
		}
	}
	return exposed, plain
}

// Traffic is how many connections are open and how many requests have been
// answered so far: whether anybody needs the hub.
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

// servers keeps one MCP server for each caller and door: making one registers
// every tool, which is far too much for each request.
type servers struct {
	mu     sync.RWMutex
	byWhom map[whom]*mcp.Server
}

type whom struct{ principal, door string }

func (s *servers) get(make func(Caller) *mcp.Server, id *Identity, door string) *mcp.Server {
	k := whom{id.Principal, door}
	s.mu.RLock()
	server := s.byWhom[k]
	s.mu.RUnlock()
	if server != nil {
		return server
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if server := s.byWhom[k]; server != nil {
		return server
	}
	server = make(Caller{Principal: id.Principal, Keyed: id.Keyed, Toolsets: id.Toolsets, Approver: id.Approver, Door: door})
	if s.byWhom == nil {
		s.byWhom = map[whom]*mcp.Server{}
	}
	s.byWhom[k] = server
	return server
}

// forget drops the servers of a key that was revoked or changed.
func (s *servers) forget(principal string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range s.byWhom {
		if k.principal == principal {
			delete(s.byWhom, k)
		}
	}
}

// server is the MCP server for whoever the guard let in.
func (a *API) server(ctx context.Context, door string) (*mcp.Server, error) {
	id := CallerFrom(ctx)
	if id == nil {
		return nil, errors.New("no identity")
	}
	s := a.servers.get(a.cfg.MCP, id, door)
	if s == nil {
		return nil, fmt.Errorf("no server for %s", id.Principal)
	}
	return s, nil
}
