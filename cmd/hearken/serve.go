package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/api"
	"github.com/hearken-dev/hearken/models"
	"github.com/hearken-dev/hearken/pipe"
)

type serveCmd struct{}

func (c *serveCmd) Run(ctx context.Context, p *program, g *grammar) error {
	if g.Detached {
		return p.serveDetached(ctx)
	}
	if p.cfg.Transport == "stdio" {
		return p.stdio(ctx)
	}
	tuneGC()
	app, err := p.takeOver(ctx, Options{}, func(ctx context.Context) bool { return !p.requestHandover(ctx) })
	if err != nil {
		return err
	}
	// A hub that is stopped at once still shows its address.
	server, err := app.Transports(context.WithoutCancel(ctx))
	if err == nil {
		err = p.printWelcome(context.WithoutCancel(ctx), app, server)
	}
	if err == nil {
		<-ctx.Done()
		fmt.Fprintln(p.stderr, "Stopping. Finishing the sessions first.")
	}
	return errors.Join(err, app.closeInTime())
}

// tuneGC makes a hub collect garbage a little more often than Go's default: it
// runs all day beside other programs.
func tuneGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(70)
	}
}

// printWelcome shows the hub's addresses and what to try next.
func (p *program) printWelcome(ctx context.Context, app *App, server *api.API) error {
	w := p.stdout
	fmt.Fprintf(w, "Hearken %s is listening.\n\n", versionString())
	fmt.Fprintf(w, "  MCP over HTTP       %s/mcp\n", server.URL())
	if u := server.WSURL(); u != "" {
		fmt.Fprintf(w, "  MCP over WebSocket  %s (with a key: hearken keys create)\n", u)
	}
	fmt.Fprintf(w, "  audio               ws%s/audio/{sessionId}\n", server.URL()[len("http"):])
	app.printEngines(w)
	fmt.Fprintf(w, "  sessions            %s\n", p.cfg.storeName())
	if app.queue != nil {
		fmt.Fprintf(w, "  approvals           %s/approvals\n", server.URL())
	}
	if pin := server.Pin(); pin != "" {
		fmt.Fprintf(w, "  TLS pin             %s\n", pin)
	}
	exposed, plain := server.Exposed()
	if plain {
		fmt.Fprint(p.stderr, "\nWARNING: TLS is off and other computers can reach this hub. Keys and speech travel unencrypted unless a proxy in front of it uses TLS.\n")
	}
	if exposed {
		if err := p.firstKey(ctx, app, w); err != nil {
			return err
		}
	}
	fmt.Fprint(w, "\nNext:\n")
	if root, err := modelRoot(p.cfg); err == nil && app.engines.needLocal() && models.Ready(root) != nil {
		fmt.Fprintf(w, "  %s models pull  # download the offline engine\n", executable())
	}
	if app.queue != nil && !app.owner.HasPIN() {
		fmt.Fprintf(w, "  %s pin  # set the PIN that approves agents' requests\n", executable())
		if isTerminal(w) { // logs must not hold the code
			fmt.Fprintf(w, "  %s/approvals#setup=%s  # the same in a browser\n", server.URL(), app.setupCode)
		}
	}
	fmt.Fprintf(w, "  claude mcp add hearken -- %s --stdio\n", executable())
	if !exposed {
		fmt.Fprintf(w, "  curl %s/mcp -d '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}'\n", server.URL())
	}
	fmt.Fprintf(w, "  %s sessions\n\nPress Ctrl-C to stop.\n", executable())
	return nil
}

// firstKey creates and shows a key if there is none: other computers need one.
func (p *program) firstKey(ctx context.Context, app *App, w io.Writer) error {
	keys, err := app.store.Keys(ctx)
	if err != nil {
		return fmt.Errorf("list keys: %w", err)
	}
	if len(keys) > 0 {
		return nil
	}
	key, err := app.createKey(ctx, "first", nil, "")
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nOther computers need a key. Save this one now; it is not shown again:\n\n  %s\n\nTo create more: hearken keys create --name NAME\n", key.Secret)
	return nil
}

// serveDetached is the hub that --stdio starts. Its parent waits on standard
// output for the report that it runs.
func (p *program) serveDetached(ctx context.Context) error {
	report, ok := p.stdout.(io.WriteCloser)
	if !ok {
		return errors.New("--detached is for hearken --stdio")
	}
	tuneGC()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	app, err := p.takeOver(ctx, Options{LazyEngine: true, Handover: stop}, func(ctx context.Context) bool { return pipe.Reachable(ctx, p.cfg.DataDir) })
	pipe.Report(report, err)
	if err != nil {
		return exitCode(1) // already reported
	}
	// The working directory may be removed or unmounted.
	if err := os.Chdir(p.cfg.DataDir); err != nil {
		p.log.Debug("working directory not changed", "error", err)
	}
	p.log.Info("hub started", "pid", os.Getpid(), "data_dir", p.cfg.DataDir)
	if app.listener == nil {
		return errors.Join(errors.New("no local socket"), app.closeInTime())
	}
	go func() {
		if _, err := app.Transports(ctx); err != nil {
			p.log.Error("HTTP not available", "error", err)
		}
	}()
	app.waitUntilIdle(ctx, p.cfg.idleTimeout())
	p.log.Info("hub stops", "idle", ctx.Err() == nil)
	return app.closeInTime()
}

// requestHandover asks a hub that an agent started to stop for this one, and
// reports whether it stops. Its clients and senders reconnect to this hub.
func (p *program) requestHandover(ctx context.Context) bool {
	conn, _, err := pipe.Dial(ctx, p.cfg.DataDir, p.commandHello(pipe.WantControl))
	if err != nil {
		return errors.Is(err, pipe.ErrNoHub) || hearken.CodeOf(err) == "" // it is already stopping
	}
	defer conn.Close()
	_, err = sendControl[struct{}](ctx, conn, controlRequest{Op: "yield"})
	// An error without a code is a broken connection: it is stopping, too.
	return hearken.CodeOf(err) == ""
}

// takeOver opens the hub. If another one is stopping, it waits until that one has
// stored its sessions and released the directory. If the other stays, it fails.
func (p *program) takeOver(ctx context.Context, opts Options, stays func(context.Context) bool) (*App, error) {
	within, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		app, err := p.open(ctx, opts)
		if !errors.Is(err, pipe.ErrHeld) || stays(within) {
			return app, err
		}
		select {
		case <-tick.C:
		case <-within.Done():
			return nil, err
		}
	}
}

// executable returns the path of this program, for commands to copy.
func executable() string {
	path, err := os.Executable()
	if err != nil {
		return "hearken"
	}
	return path
}
