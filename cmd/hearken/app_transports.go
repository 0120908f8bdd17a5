package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	"github.com/hearken-dev/hearken/api"
	"github.com/hearken-dev/hearken/mcpserver"
	"github.com/hearken-dev/hearken/pipe"
)

// listenLocal opens the local socket. Without one, as in some sandboxes, the hub
// still serves HTTP.
func (a *App) listenLocal(ctx context.Context) {
	l, err := pipe.Listen(a.cfg.DataDir)
	if err != nil {
		a.log.Warn("no local socket; hearken --stdio cannot connect to this hub", "error", err)
		return
	}
	a.listener = l
	a.publishAddress("")
	a.running.Go(func() {
		if err := a.local.Serve(ctx, l); err != nil {
			a.log.Error("local socket failed", "error", err)
		}
	})
}

// publishAddress writes the file by which other processes find this hub.
func (a *App) publishAddress(http string) {
	socket := ""
	if a.listener != nil {
		socket = a.listener.Addr().String()
	}
	if err := a.lock.Describe(socket, http, a.cfg.storeName()); err != nil {
		a.log.Warn("hub not described", "error", err)
	}
}

// acceptLocal checks the hello of a process on the local socket.
func (a *App) acceptLocal(ctx context.Context, h pipe.Hello) (pipe.Welcome, error) {
	if mine := a.cfg.storeName(); h.Store != "" && h.Store != mine {
		return pipe.Welcome{}, hearken.Errorf(hearken.Invalid,
			"The hub of %s stores its sessions in %s, but this command is set to %s.", a.cfg.DataDir, mine, h.Store).
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
	if server := a.openedHTTP(); server != nil { // an agent need not wait for HTTP
		w.HTTP = server.URL()
	}
	return w, nil
}

// serveLocal serves a process on the local socket until it disconnects.
func (a *App) serveLocal(ctx context.Context, h pipe.Hello, conn net.Conn) {
	a.connections.Add(1)
	defer a.connections.Add(-1)
	if h.Want == pipe.WantControl {
		a.serveControl(ctx, conn)
		return
	}
	server := a.factory.Server(hearken.Caller{
		Principal: act.Local, Transport: hearken.TransportStdio, Toolsets: h.Toolsets,
		Provider: h.Provider, Language: h.Language, APIKey: h.APIKey, Named: h.Named,
	})
	if err := serveStream(ctx, server, conn); err != nil && ctx.Err() == nil {
		a.log.Debug("local client disconnected", "error", err)
	}
}

// serveStream serves one client until it disconnects or ctx ends. The client may
// begin with a handshake or with a bare call.
func serveStream(ctx context.Context, server *mcp.Server, conn net.Conn) error {
	stop := context.AfterFunc(ctx, func() { conn.SetReadDeadline(time.Now()) })
	in := bufio.NewReader(conn)
	line, err := in.ReadBytes('\n')
	if !stop() || err != nil {
		return err
	}
	var options mcp.ServerSessionOptions
	if first, err := jsonrpc.DecodeMessage(bytes.TrimSpace(line)); err == nil {
		options.State = api.InitialState(first)
	}
	session, err := server.Connect(ctx, &mcp.IOTransport{
		Reader: readCloser{io.MultiReader(bytes.NewReader(line), in), conn}, Writer: nopWriteCloser{conn},
	}, &options)
	if err != nil {
		return err
	}
	stop = context.AfterFunc(ctx, func() { _ = session.Close() })
	defer stop()
	return session.Wait()
}

// readCloser reads from one thing and closes another.
type readCloser struct {
	io.Reader
	io.Closer
}

// connect connects this process to its own hub.
func (a *App) connect(ctx context.Context, h pipe.Hello) (net.Conn, error) {
	client, server := net.Pipe()
	go a.local.ServeConn(context.WithoutCancel(ctx), server)
	conn, _, err := pipe.Handshake(ctx, client, h)
	return conn, err
}

// serveHTTP opens HTTP and serves it until ctx ends.
func (a *App) serveHTTP(ctx context.Context) {
	a.api, a.httpErr = a.openHTTP()
	if a.httpErr == nil {
		a.publishAddress(a.api.URL())
		if err := savePort(a.cfg.DataDir, a.api.Port()); err != nil {
			a.log.Warn("port not saved", "error", err)
		}
	}
	close(a.httpOpened)
	if a.httpErr != nil {
		return
	}
	if err := a.api.Serve(ctx); err != nil {
		a.log.Error("HTTP failed", "error", err)
	}
}

func (a *App) openHTTP() (*api.API, error) {
	c := a.cfg
	registry := prometheus.NewRegistry()
	registry.MustRegister(newCollector(a.hub))
	cfg := api.Config{
		MCP:          a.remoteServer,
		CheckTicket:  a.hub.CheckTicket,
		Audio:        a.countReading(a.audio),
		OnResume:     a.exposure.Read,
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
		OnRefused:    a.recordRefusedRequest,
		Log:          a.log,
	}
	if c.WSListen != "off" {
		cfg.WSListen = c.WSListen
	}
	server, err := api.New(cfg)
	if err == nil {
		a.mountCompat(server)
		a.mountActions(server)
	}
	return server, err
}

// Transports waits until HTTP is served.
func (a *App) Transports(ctx context.Context) (*api.API, error) {
	select {
	case <-a.httpOpened:
		return a.api, a.httpErr
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// openedHTTP returns what serves HTTP, or nil if nothing does yet.
func (a *App) openedHTTP() *api.API {
	select {
	case <-a.httpOpened:
		return a.api
	default:
		return nil
	}
}

// audioURL returns the address for the audio of a session, as the caller of ctx
// knows the hub. It waits for HTTP, which opens within moments of the hub.
func (a *App) audioURL(ctx context.Context, session, ticket string) string {
	<-a.httpOpened
	if a.httpErr != nil {
		return ""
	}
	return a.api.AudioURL(ctx, session, ticket)
}

// remoteServer returns the MCP server for a caller over HTTP. A key may restrict
// the hub's toolsets, but never extend them.
func (a *App) remoteServer(c hearken.Caller) *mcp.Server {
	if len(c.Toolsets) > 0 {
		c.Toolsets = intersectToolsets(a.cfg.Toolsets, c.Toolsets)
	} else {
		c.Toolsets = a.cfg.Toolsets
	}
	return a.factory.Server(c)
}

// audioSender returns the principal that sends audio, if its key allows that.
func audioSender(r *http.Request) (string, error) {
	caller := api.CallerFrom(r.Context())
	if caller == nil {
		return "", hearken.Errorf(hearken.Unauthorized, "The sender of this audio is unknown.")
	}
	if sets, readOnly := splitToolsets(caller.Toolsets); readOnly || sets != nil && !slices.Contains(sets, mcpserver.Transcription) {
		return "", hearken.Errorf(hearken.Forbidden, "This key may read, but not send audio.").
			WithTry("the wsEndpoint of a session, or a key made for it: hearken keys create --name NAME")
	}
	return caller.Principal, nil
}

// lateSender returns the principal that shows a session's ticket in a message.
func lateSender(r *http.Request, ticket string) (string, error) {
	caller, err := api.RedeemTicket(r.Context(), ticket)
	if err != nil {
		return "", err
	}
	return caller.Principal, nil
}

// portName is the file with the port of the last hub. The next hub tries it
// first, so that senders find it again.
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

func savePort(dir string, port int) error {
	return os.WriteFile(filepath.Join(dir, portName), []byte(strconv.Itoa(port)+"\n"), 0o600)
}

// intersectToolsets returns the toolsets that both a and b allow. "read" applies
// if either has it.
func intersectToolsets(a, b []string) []string {
	inA, readOnlyA := splitToolsets(a)
	inB, readOnlyB := splitToolsets(b)
	var both []string
	switch {
	case inA == nil:
		both = inB
	case inB == nil:
		both = inA
	default:
		both = slices.DeleteFunc(inB, func(name string) bool { return !slices.Contains(inA, name) })
		if len(both) == 0 {
			return []string{"none"} // no toolset has this name, so no tool is offered
		}
	}
	if readOnlyA || readOnlyB {
		both = append(both, mcpserver.ReadOnly)
	}
	return both
}

// splitToolsets returns the toolsets in names, nil for all, and whether only
// tools that change nothing are allowed.
func splitToolsets(names []string) (sets []string, readOnly bool) {
	for _, name := range names {
		if name != mcpserver.ReadOnly && name != mcpserver.AllTools {
			sets = append(sets, name)
		}
	}
	if slices.Contains(names, mcpserver.AllTools) {
		sets = nil
	}
	return sets, slices.Contains(names, mcpserver.ReadOnly)
}
