package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	"github.com/hearken-dev/hearken/api"
	"github.com/hearken-dev/hearken/live"
	"github.com/hearken-dev/hearken/mcpserver"
	"github.com/hearken-dev/hearken/pipe"
	"github.com/hearken-dev/hearken/source/ws"
)

// fallbackLanguage is that of sessions where nobody named one.
const fallbackLanguage = "en"

// Options are what tests and short commands want otherwise.
type Options struct {
	Brief     bool               // only for this process: no doors
	Late      bool               // load the engine when it is first needed
	Providers []hearken.Provider // in place of the real engines; the first is the default
	Store     hearken.Store      // in place of the configured one
	Log       *slog.Logger
	Now       func() time.Time
	PINRounds int                                            // see [owner.Config]
	Fault     func(place string)                             // see [live.Config]
	Capture   func(context.Context) (hearken.Capture, error) // in place of the computer's own sound
	Yield     context.CancelFunc                             // makes room for a hub that a person starts; nil to stay
}

// App is the running hub with all its parts.
type App struct {
	cfg *Config
	log *slog.Logger
	now func() time.Time

	lock      *pipe.Lock
	listener  net.Listener // the local socket; nil if Brief
	local     *pipe.Server
	store     hearken.Store
	engines   engines
	hub       *live.Hub
	scribe    hearken.Scribe // this computer's own sound
	endScribe func(context.Context) error
	acting
	factory *mcpserver.Factory

	sound   *ws.Handler   // takes the sound of sessions
	compat  compatAPIs    // APIs of other services
	api     *api.API      // set when opened is closed, unless doorErr is
	opened  chan struct{} // closed when the doors are open, or cannot be
	doorErr error

	ready   chan struct{}      // closed when local connections can be served
	pipes   atomic.Int64       // local connections
	yield   context.CancelFunc // ends a hub that nobody started on purpose; nil for one of a person
	running sync.WaitGroup
	stop    context.CancelFunc // ends the doors
}

// Open takes the data directory and starts the hub. What an agent on the local
// socket needs is there when it returns; the engine and the doors for HTTP
// follow by themselves, see [App.Transports]. Closing ends everything.
func Open(ctx context.Context, cfg *Config, opts Options) (_ *App, err error) {
	a := &App{
		cfg: cfg, yield: opts.Yield, log: opts.Log, now: opts.Now, store: opts.Store,
		opened: make(chan struct{}), ready: make(chan struct{}),
	}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	if a.now == nil {
		a.now = time.Now
	}
	if a.lock, err = pipe.Acquire(cfg.DataDir); err != nil {
		return nil, err
	}
	defer func() {
		if err == nil {
			return
		}
		if err := a.Close(ctx); err != nil && ctx.Err() == nil {
			a.log.Warn("hub not closed", "error", err)
		}
	}()
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	a.stop = stop
	a.local = &pipe.Server{Accept: a.greet, Handle: a.serveLocal, Log: a.log}
	if !opts.Brief {
		a.listen(background) // first of all: who comes now waits in line
	}
	if a.store == nil {
		if a.store, err = openStore(ctx, cfg); err != nil {
			return nil, err
		}
	}
	if a.engines, err = openEngines(background, cfg, opts, a.log); err != nil {
		return nil, err
	}
	if a.hub, err = live.Open(ctx, a.liveConfig(opts.Fault)); err != nil {
		return nil, fmt.Errorf("open hub: %w", err)
	}
	a.openScribe(opts.Capture)
	a.late = opts
	if !opts.Brief {
		if err = a.openActing(ctx, opts); err != nil {
			return nil, err
		}
		if a.unable != nil {
			a.log.Warn("no action is carried out here", "reason", a.unable)
		}
	}
	a.factory = mcpserver.New(mcpserver.Options{
		Hub: a.hub, Scribe: a.scribe, Version: versionString(), AudioURL: a.audioURL, Log: a.log,
		Actions: a.actor(), StateKey: a.stateKey, Limit: cfg.RateLimit, OnLimited: a.limited, OnRefused: a.refused,
	})
	a.sound = ws.New(ws.Config{Sessions: a.hub, Principal: sender, Log: a.log})
	a.compat = a.openCompat()
	close(a.ready)
	if opts.Brief {
		a.doorErr = errors.New("a short command has no doors")
		close(a.opened)
		return a, nil
	}
	a.lasting = true
	a.running.Go(func() { a.noted(background, hearken.AuditRecord{Type: hearken.AuditHub, State: "started"}) })
	a.running.Go(func() { a.serveDoors(background) })
	if !opts.Late {
		a.engines.warm()
	}
	return a, nil
}

// Close drains every session until ctx ends and gives everything back. It
// works on what an Open that failed left, too.
func (a *App) Close(ctx context.Context) error {
	var errs []error
	if a.factory != nil {
		a.factory.Close() // who waits for a person is told to come back
	}
	if a.sound != nil {
		errs = append(errs, a.sound.Close(ctx)) // senders come back to the next hub
		errs = append(errs, a.compat.listen.Close(ctx))
	}
	if a.stop != nil {
		a.stop()
	}
	if a.listener != nil {
		a.listener.Close()
	}
	// Beside each other: a mail server that hangs must not cost the last words
	// of a call.
	acted := make(chan error, 1)
	go func() { acted <- a.closeActing(ctx) }()
	if a.endScribe != nil {
		errs = append(errs, a.endScribe(ctx)) // the hub has its last words to finish
	}
	if a.hub != nil {
		errs = append(errs, a.hub.Close(ctx))
	}
	errs = append(errs, <-acted)
	a.running.Wait()
	errs = append(errs, a.engines.close(ctx))
	if a.store != nil {
		errs = append(errs, a.store.Close())
	}
	if a.lock != nil {
		errs = append(errs, a.lock.Release())
	}
	return errors.Join(errs...)
}

func (a *App) liveConfig(fault func(string)) live.Config {
	c := a.cfg
	return live.Config{
		Dir: c.DataDir, Store: a.store, Providers: a.engines.providers,
		Chain: a.engines.chain, ReturnAfter: time.Duration(c.ProviderReturnSeconds) * time.Second,
		Languages: c.languages(), DefaultLanguage: cmp.Or(c.DefaultLanguage, fallbackLanguage),
		Vocabulary:      a.engines.vocabulary,
		PersistSegments: c.PersistIntervalSegments,
		PersistInterval: time.Duration(c.PersistIntervalSeconds) * time.Second,
		BufferChunks:    c.MaxBufferChunks,
		SpoolSeconds:    c.SpoolSeconds,
		SpoolMemory:     c.Spool == "memory",
		KeepAudio:       c.KeepAudio,
		Retries:         c.ReconnectMaxRetries,
		MaxSessions:     c.MaxSessions,
		Retention:       time.Duration(c.RetentionDays) * 24 * time.Hour,
		Log:             a.log, Now: a.now, Fault: fault,
	}
}

// listen opens the local socket. Without one, as in some sandboxes, the hub
// still serves HTTP.
func (a *App) listen(ctx context.Context) {
	l, err := pipe.Listen(a.cfg.DataDir)
	if err != nil {
		a.log.Warn("no local socket; hearken --stdio cannot join this hub", "error", err)
		return
	}
	a.listener = l
	a.describe("")
	a.running.Go(func() {
		if err := a.local.Serve(ctx, l); err != nil {
			a.log.Error("local socket failed", "error", err)
		}
	})
}

// describe writes down where this hub is found.
func (a *App) describe(http string) {
	socket := ""
	if a.listener != nil {
		socket = a.listener.Addr().String()
	}
	if err := a.lock.Describe(socket, http, a.cfg.storeName()); err != nil {
		a.log.Warn("hub not described", "error", err)
	}
}

// serveDoors opens the doors for HTTP and answers until ctx ends.
func (a *App) serveDoors(ctx context.Context) {
	a.api, a.doorErr = a.openDoors()
	if a.doorErr == nil {
		a.describe(a.api.URL())
		if err := keepPort(a.cfg.DataDir, a.api.Port()); err != nil {
			a.log.Warn("port not remembered", "error", err)
		}
	}
	close(a.opened)
	if a.doorErr != nil {
		return
	}
	if err := a.api.Serve(ctx); err != nil {
		a.log.Error("doors failed", "error", err)
	}
}

func (a *App) openDoors() (*api.API, error) {
	c := a.cfg
	registry := prometheus.NewRegistry()
	registry.MustRegister(newCollector(a.hub))
	cfg := api.Config{
		MCP:          a.remoteServer,
		CheckTicket:  a.hub.CheckTicket,
		Audio:        a.sound,
		Keys:         a.store,
		Ready:        a.Ready,
		Host:         c.Host,
		Port:         c.Port,
		LastPort:     lastPort(c.DataDir),
		PublicURL:    c.PublicURL,
		Origins:      c.Origins,
		AuthRequired: c.Auth == "required",
		TLS:          api.TLS{Off: c.TLS == "off", CertFile: c.TLSCert, KeyFile: c.TLSKey, Dir: c.DataDir},
		Registry:     registry,
		OnRefused:    a.turnedAway,
		Log:          a.log,
	}
	if c.WSListen != "off" {
		cfg.WSListen = c.WSListen
	}
	doors, err := api.New(cfg)
	if err == nil {
		a.compat.mount(doors)
		a.mountActing(doors)
	}
	return doors, err
}

// portName is the file that holds the port of the last hub: a sender that
// returns looks for the next one there.
const portName = "port"

func lastPort(dir string) int {
	data, err := os.ReadFile(filepath.Join(dir, portName))
	if err != nil {
		return 0
	}
	port, err := strconv.ParseUint(strings.TrimSpace(string(data)), 10, 16)
	if err != nil {
		return 0
	}
	return int(port)
}

func keepPort(dir string, port int) error {
	return os.WriteFile(filepath.Join(dir, portName), []byte(strconv.Itoa(port)+"\n"), 0o600)
}

// sender names who sends sound: whoever the guard let in.
func sender(r *http.Request) (string, error) {
	id := api.CallerFrom(r.Context())
	if id == nil {
		return "", hearken.Errorf(hearken.Unauthorized, "Nobody is known to send this.")
	}
	if sets, readOnly := splitToolsets(id.Toolsets); readOnly || sets != nil && !slices.Contains(sets, mcpserver.Transcription) {
		return "", hearken.Errorf(hearken.Forbidden, "This key may read, but not send sound.").
			WithTry("the wsEndpoint of a session, or a key made for it: hearken keys create --name NAME")
	}
	return id.Principal, nil
}

// Transports waits until the doors for HTTP are open.
func (a *App) Transports(ctx context.Context) (*api.API, error) {
	select {
	case <-a.opened:
		return a.api, a.doorErr
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Ready tells why the hub cannot do its work: its store or its engine.
func (a *App) Ready(ctx context.Context) error {
	if _, err := a.store.Sessions(ctx, hearken.SessionFilter{Limit: 1}); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return a.engines.ready(ctx)
}

// audioURL is where the sound of a session goes. It waits for the doors, which
// open within moments of the hub.
func (a *App) audioURL(session, ticket string) string {
	<-a.opened
	if a.doorErr != nil {
		return ""
	}
	return a.api.AudioURL(session, ticket)
}

// remoteServer returns the MCP server for a caller over HTTP. A key limits the
// hub's toolsets further and never widens them.
func (a *App) remoteServer(c hearken.Caller) *mcp.Server {
	if len(c.Toolsets) > 0 {
		c.Toolsets = narrow(a.cfg.Toolsets, c.Toolsets)
	} else {
		c.Toolsets = a.cfg.Toolsets
	}
	return a.factory.Server(c)
}

// greet answers a process on the local socket.
func (a *App) greet(ctx context.Context, h pipe.Hello) (pipe.Welcome, error) {
	if mine := a.cfg.storeName(); h.Store != "" && h.Store != mine {
		return pipe.Welcome{}, hearken.Errorf(hearken.Invalid,
			"The hub of %s keeps its sessions in %s, but this command is set to %s.", a.cfg.DataDir, mine, h.Store).
			WithTry("the same STORAGE_BACKEND and DATABASE_URL for both, or another HEARKEN_DATA_DIR")
	}
	if err := mcpserver.CheckToolsets(h.Toolsets); err != nil {
		return pipe.Welcome{}, err
	}
	select {
	case <-a.ready:
	case <-ctx.Done():
		return pipe.Welcome{}, ctx.Err()
	}
	w := pipe.Welcome{OK: true, Version: versionString(), PID: os.Getpid()}
	select {
	case <-a.opened:
		if a.doorErr == nil {
			w.HTTP = a.api.URL()
		}
	default: // an agent need not wait for a door it does not use
	}
	return w, nil
}

// serveLocal serves a process on the local socket until it leaves.
func (a *App) serveLocal(ctx context.Context, h pipe.Hello, conn net.Conn) {
	a.pipes.Add(1)
	defer a.pipes.Add(-1)
	if h.Want == pipe.WantControl {
		a.serveControl(ctx, conn)
		return
	}
	if err := a.localServer(h).Run(ctx, &mcp.IOTransport{Reader: conn, Writer: keepOpen{conn}}); err != nil && ctx.Err() == nil {
		a.log.Debug("local client left", "error", err)
	}
}

// keepOpen is a writer that its reader closes.
type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }

// connect joins this process to its own hub.
func (a *App) connect(ctx context.Context, h pipe.Hello) (net.Conn, error) {
	here, there := net.Pipe()
	go a.local.ServeConn(context.WithoutCancel(ctx), there)
	conn, _, err := pipe.Handshake(ctx, here, h)
	return conn, err
}

// localServer is the MCP server of a process that brought h along.
func (a *App) localServer(h pipe.Hello) *mcp.Server {
	return a.factory.Server(hearken.Caller{
		Principal: act.Local, Transport: hearken.TransportStdio, Toolsets: h.Toolsets,
		Provider: h.Provider, Language: h.Language, APIKey: h.APIKey,
	})
}
