package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/api"
	"github.com/hearken-dev/hearken/live"
	"github.com/hearken-dev/hearken/mcpserver"
	"github.com/hearken-dev/hearken/pipe"
	"github.com/hearken-dev/hearken/source/ws"
)

// fallbackLanguage is the language of sessions if nobody named one.
const fallbackLanguage = "en"

// Options are what tests and single commands change about a hub.
type Options struct {
	Brief      bool // for one command in this process: no transports, and actions only on request
	LazyEngine bool // load the engine when it is first needed
	NewStore   bool // start a new store in place of one that is lost
	Log        *slog.Logger
	Now        func() time.Time

	// Handover stops this hub when a person starts another one. Without it the
	// hub stays.
	Handover context.CancelFunc

	Providers []hearken.Provider                             // instead of the real engines; the first is the default
	Store     hearken.Store                                  // instead of the configured one
	Capture   func(context.Context) (hearken.Capture, error) // instead of this computer's audio
	PINRounds int                                            // see [owner.Config]
	Failpoint func(name string)                              // see [live.Config] and [act.Config]
}

// App is the running hub with all its parts.
type App struct {
	cfg  *Config
	opts Options
	log  *slog.Logger
	now  func() time.Time

	lock         *pipe.Lock
	store        hearken.Store
	engines      engines
	hub          *live.Hub
	scribe       hearken.Scribe // captures this computer's audio
	closeScribe  func(context.Context) error
	parrotScribe *captureProbe // if scribe is ParrotScribe's CLI, whose audio the hub does not see
	actionParts
	factory *mcpserver.Factory
	audio   *ws.Handler // receives the audio of sessions
	compat  compatAPIs  // the APIs of other services

	local       *pipe.Server
	listener    net.Listener       // the local socket; nil if Brief
	ready       chan struct{}      // closed when local connections can be served
	connections atomic.Int64       // on the local socket
	handOver    context.CancelFunc // see [Options.Handover]

	httpOpened chan struct{} // closed when api or httpErr is set
	api        *api.API
	httpErr    error

	running sync.WaitGroup
	stop    context.CancelFunc // stops the transports
}

// Open locks the data directory and starts the hub. When it returns, agents on
// the local socket are served; the engine and HTTP follow in the background, see
// [App.Transports]. Close ends everything.
func Open(ctx context.Context, cfg *Config, opts Options) (_ *App, err error) {
	a := &App{
		cfg: cfg, opts: opts, log: opts.Log, now: opts.Now, store: opts.Store, handOver: opts.Handover,
		httpOpened: make(chan struct{}), ready: make(chan struct{}),
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
	a.local = &pipe.Server{Accept: a.acceptLocal, Handle: a.serveLocal, Log: a.log}
	if !opts.Brief {
		a.listenLocal(background) // first: whoever connects now waits until the hub is ready
	}
	if a.store == nil {
		if a.store, err = openStore(ctx, cfg, opts.NewStore, a.log); err != nil {
			return nil, err
		}
	}
	if a.engines, err = openEngines(background, cfg, opts.Providers, a.log); err != nil {
		return nil, err
	}
	if a.hub, err = live.Open(ctx, a.liveConfig()); err != nil {
		return nil, fmt.Errorf("open hub: %w", err)
	}
	a.openScribe()
	if err = a.openExposure(ctx); err != nil {
		return nil, err
	}
	if !opts.Brief {
		if err = a.openActions(ctx); err != nil {
			return nil, err
		}
		if a.actionsErr != nil {
			a.log.Warn("this hub carries out no actions", "reason", a.actionsErr)
		}
	}
	a.factory = mcpserver.New(mcpserver.Options{
		Hub: a.hub, Scribe: a.scribe, Version: versionString(), AudioURL: a.audioURL, Log: a.log,
		Actions: a.actionQueue(), StateKey: a.stateKey, Limit: cfg.RateLimit, OnLimited: a.recordLimited, OnRefused: a.recordRefusedTool, OnRead: a.exposure.Read,
	})
	a.audio = ws.New(ws.Config{Sessions: a.hub, Principal: audioSender, Redeem: lateSender, Log: a.log})
	a.compat = a.openCompat()
	close(a.ready)
	if opts.Brief {
		a.httpErr = errors.New("a single command serves no HTTP")
		close(a.httpOpened)
		return a, nil
	}
	a.started = true
	a.running.Go(func() { a.record(background, hearken.AuditRecord{Type: hearken.AuditHub, State: "started"}) })
	a.running.Go(func() { a.serveHTTP(background) })
	a.running.Go(func() { a.watchAudio(background) })
	a.running.Go(func() { a.sweepQuotes(background) })
	if !opts.LazyEngine {
		a.engines.warm()
	}
	return a, nil
}

// Close finishes every session until ctx ends and releases everything. It also
// cleans up after an Open that failed.
func (a *App) Close(ctx context.Context) error {
	var errs []error
	if a.factory != nil {
		a.factory.Close() // clients that wait for a person are told to retry
	}
	if a.audio != nil {
		errs = append(errs, a.audio.Close(ctx)) // senders reconnect to the next hub
		errs = append(errs, a.compat.listen.Close(ctx))
	}
	if a.stop != nil {
		a.stop()
	}
	if a.listener != nil {
		a.listener.Close()
	}
	// At the same time: a mail server that hangs must not cost the last words
	// of a call.
	actionsClosed := make(chan error, 1)
	go func() { actionsClosed <- a.closeActions(ctx) }()
	if a.closeScribe != nil {
		errs = append(errs, a.closeScribe(ctx)) // before the hub, which finishes its last words
	}
	if a.hub != nil {
		errs = append(errs, a.hub.Close(ctx))
	}
	errs = append(errs, <-actionsClosed)
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

// closeInTime closes the hub within [closeTimeout].
func (a *App) closeInTime() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	return a.Close(ctx)
}

// Ready reports why the hub cannot work: its store or its engine.
func (a *App) Ready(ctx context.Context) error {
	if _, err := a.store.Sessions(ctx, hearken.SessionFilter{Limit: 1}); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return a.engines.ready(ctx)
}

func (a *App) liveConfig() live.Config {
	c := a.cfg
	return live.Config{
		Dir: c.DataDir, Store: a.store, Providers: a.engines.providers,
		Chain: a.engines.chain, Captures: a.engines.captures, ReturnAfter: time.Duration(c.ProviderReturnSeconds) * time.Second,
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
		OnDeleted:       a.forgetQuotes,
		Log:             a.log, Now: a.now, Fault: a.opts.Failpoint,
	}
}
