package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"golang.org/x/term"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/api"
	"github.com/hearken-dev/hearken/models"
	"github.com/hearken-dev/hearken/pipe"
)

type serveCmd struct{}

func (c *serveCmd) Run(ctx context.Context, p *program, g *grammar) error {
	if g.Detached {
		return p.detached(ctx)
	}
	if p.cfg.Transport == "stdio" {
		return p.stdio(ctx)
	}
	frugal()
	app, err := p.takeOver(ctx, Options{}, func(ctx context.Context) bool { return !p.replace(ctx) })
	if err != nil {
		return err
	}
	// Whoever stops it at once still learns where it was.
	doors, err := app.Transports(context.WithoutCancel(ctx))
	if err == nil {
		err = p.greeting(context.WithoutCancel(ctx), app, doors)
	}
	if err == nil {
		<-ctx.Done()
		fmt.Fprintln(p.stderr, "Stopping. Finishing the sessions first.")
	}
	return errors.Join(err, app.drain())
}

// frugal has a hub collect its garbage a little more often than Go would: it
// runs all day beside other programs, and its sound buffers come and go.
func frugal() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(70)
	}
}

// drain closes the hub within the time that a stop may take.
func (a *App) drain() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	return a.Close(ctx)
}

// greeting tells where the hub is and what to try next.
func (p *program) greeting(ctx context.Context, app *App, doors *api.API) error {
	w := p.stdout
	fmt.Fprintf(w, "Hearken %s is listening.\n\n", versionString())
	fmt.Fprintf(w, "  MCP over HTTP       %s/mcp\n", doors.URL())
	if u := doors.WSURL(); u != "" {
		fmt.Fprintf(w, "  MCP over WebSocket  %s (with a key: hearken keys create)\n", u)
	}
	fmt.Fprintf(w, "  audio               ws%s/audio/{sessionId}\n", doors.URL()[len("http"):])
	fmt.Fprintf(w, "  sessions            %s\n", p.cfg.storeName())
	if app.desk != nil {
		fmt.Fprintf(w, "  approvals           %s/approvals\n", doors.URL())
	}
	if pin := doors.Pin(); pin != "" {
		fmt.Fprintf(w, "  TLS pin             %s\n", pin)
	}
	exposed, plain := doors.Exposed()
	if plain {
		fmt.Fprint(p.stderr, "\nWARNING: TLS is off and other computers can reach this hub. Keys and speech travel unencrypted unless a proxy in front of it uses TLS.\n")
	}
	if exposed {
		if err := p.firstKey(ctx, app, w); err != nil {
			return err
		}
	}
	fmt.Fprint(w, "\nNext:\n")
	if root, err := modelRoot(p.cfg); err == nil && p.cfg.TranscriptionProvider[0] == "local" && models.Ready(root) != nil {
		fmt.Fprintf(w, "  %s models pull  # download the offline engine\n", executable())
	}
	if app.desk != nil && !app.owner.HasPIN() {
		fmt.Fprintf(w, "  %s pin  # set the PIN that approves agents' requests\n", executable())
		if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) { // for your eyes only
			fmt.Fprintf(w, "  %s/approvals#setup=%s  # the same in a browser\n", doors.URL(), app.setup)
		}
	}
	fmt.Fprintf(w, "  claude mcp add hearken -- %s --stdio\n", executable())
	if !exposed {
		fmt.Fprintf(w, "  curl %s/mcp -d '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}'\n", doors.URL())
	}
	fmt.Fprintf(w, "  %s sessions\n\nPress Ctrl-C to stop.\n", executable())
	return nil
}

// firstKey makes the key without which nobody could come in from outside, once.
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

// detached is the hub that --stdio starts. Its parent waits on standard output
// for the news that it runs.
func (p *program) detached(ctx context.Context) error {
	report, ok := p.stdout.(io.WriteCloser)
	if !ok {
		return errors.New("--detached is for hearken --stdio")
	}
	frugal()
	// From its first moment on it makes room when it is asked to.
	ctx, yield := context.WithCancel(ctx)
	defer yield()
	app, err := p.takeOver(ctx, Options{Late: true, Yield: yield}, func(ctx context.Context) bool { return pipe.Reachable(ctx, p.cfg.DataDir) })
	pipe.Report(report, err)
	if err != nil {
		return exitCode(1) // told already
	}
	// The directory it was started in may be removed or unmounted.
	if err := os.Chdir(p.cfg.DataDir); err != nil {
		p.log.Debug("working directory not left", "error", err)
	}
	p.log.Info("hub started", "pid", os.Getpid(), "data_dir", p.cfg.DataDir)
	if app.listener == nil {
		return errors.Join(errors.New("no local socket"), app.drain())
	}
	go func() {
		if _, err := app.Transports(ctx); err != nil {
			p.log.Error("HTTP not available", "error", err)
		}
	}()
	app.idle(ctx, p.cfg.idle())
	p.log.Info("hub stops", "idle", ctx.Err() == nil)
	return app.drain()
}

// replace asks a hub that runs only because an agent started it to make room.
// Its clients and senders come back to the next one by themselves.
func (p *program) replace(ctx context.Context) bool {
	hello := p.hello()
	hello.Want = pipe.WantControl
	conn, _, err := pipe.Dial(ctx, p.cfg.DataDir, hello)
	if err != nil {
		return errors.Is(err, pipe.ErrNoHub) || hearken.CodeOf(err) == "" // it is ending already
	}
	defer conn.Close()
	_, err = ask[struct{}](conn, controlRequest{Op: "yield"})
	// A plain error is a connection that broke: it is ending, too.
	return hearken.CodeOf(err) == ""
}

// takeOver opens the hub, and waits for one that is just ending: it releases the
// directory as soon as its sessions are stored. A hub that stays is an error.
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

func executable() string {
	path, err := os.Executable()
	if err != nil {
		return "hearken"
	}
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, path); err == nil && filepath.IsLocal(rel) {
			return filepath.Join(wd, rel)
		}
	}
	return path
}
