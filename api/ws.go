package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"

	"github.com/coder/websocket"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
)

// statusUnauthorized closes a WebSocket whose key is not, or no longer, good.
const statusUnauthorized websocket.StatusCode = 4401

// strangerBytes is how much is read of one message from whoever has no key.
const strangerBytes = 64 << 10

// A wsDoor answers MCP over WebSocket, one message a frame. A client may begin
// with initialize, as either generation does it, or with a bare call.
type wsDoor struct {
	api       *API
	strangers chan struct{} // one for each that is being told
}

func newWSDoor(a *API) *wsDoor {
	return &wsDoor{api: a, strangers: make(chan struct{}, a.limits.Strangers)}
}

func (d *wsDoor) accept(w http.ResponseWriter, r *http.Request) (*websocket.Conn, error) {
	return websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols:       []string{"mcp"},
		InsecureSkipVerify: true, // the guard has looked at the origin
	})
}

func (d *wsDoor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !isUpgrade(r) {
		w.Header().Set("Upgrade", "websocket")
		w.(*response).refuse(http.StatusUpgradeRequired, hearken.Errorf(hearken.Invalid, "This door speaks MCP over WebSocket.").WithTry("POST %s/mcp for MCP over HTTP", d.api.URL()))
		return
	}
	server, err := d.api.server(r.Context(), "ws")
	if err != nil {
		w.(*response).refuse(http.StatusInternalServerError, hearken.Errorf("", "There is no server for this caller."))
		return
	}
	c, err := d.accept(w, r)
	if err != nil {
		return // Accept has answered
	}
	d.api.metrics.sockets.Inc()
	defer d.api.metrics.sockets.Dec()
	c.SetReadLimit(d.api.limits.Body)
	d.serve(r.Context(), c, server)
}

// serve runs one connection until either side ends it, the key is revoked or
// the hub stops.
func (d *wsDoor) serve(ctx context.Context, c *websocket.Conn, server *mcp.Server) {
	conn := &wsConn{c: c, why: ctx, limits: &d.api.limits, calls: map[jsonrpc.ID]bool{}}
	defer conn.end()
	ended := make(chan struct{})
	var pinging sync.WaitGroup
	pinging.Go(func() { conn.pings(ended) })
	defer pinging.Wait()
	defer close(ended)

	// Ending a read by its context would end the connection without a word.
	goodbye := context.AfterFunc(ctx, conn.end)
	first, err := conn.Read(context.WithoutCancel(ctx))
	if !goodbye() || err != nil {
		return
	}
	conn.first = first
	ss, err := server.Connect(context.WithoutCancel(ctx), conn, &mcp.ServerSessionOptions{State: stateFor(first)})
	if err != nil {
		return
	}
	closing := context.AfterFunc(ctx, func() {
		if errors.Is(context.Cause(ctx), errRevoked) {
			conn.deny() // the key has lost its right at once
		} else {
			conn.drain()
		}
		conn.end()
	})
	_ = ss.Wait() // however it ends
	conn.gone()
	closing()
}

// stateFor is the state in which a connection begins. One that begins with a
// bare call is taken as initialised, as the SDK does it for HTTP without
// sessions.
func stateFor(first jsonrpc.Message) *mcp.ServerSessionState {
	if !bare(first) {
		return nil
	}
	return &mcp.ServerSessionState{
		InitializeParams:  &mcp.InitializeParams{ProtocolVersion: "2025-03-26"},
		InitializedParams: &mcp.InitializedParams{},
		LogLevel:          "info",
	}
}

// bare reports whether a connection begins with a call that needs no
// initialize: neither generation's handshake, but plain JSON-RPC.
func bare(m jsonrpc.Message) bool {
	req, ok := m.(*jsonrpc.Request)
	if !ok || req.Method == "initialize" || req.Method == "ping" || req.Method == "server/discover" {
		return false
	}
	var p struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	if err := json.Unmarshal(req.Params, &p); err != nil {
		return true
	}
	return p.Meta[mcp.MetaKeyProtocolVersion] == nil
}

// stranger answers a WebSocket without a good key as MCP clients understand
// it: one message is read, answered with the error and its id, and that is
// all. Only few are told so at a time; the others get a plain 401.
func (d *wsDoor) stranger(w http.ResponseWriter, r *http.Request) {
	select {
	case d.strangers <- struct{}{}:
		defer func() { <-d.strangers }()
	default:
		w.(*response).refuse(http.StatusUnauthorized, hearken.Errorf(hearken.Unauthorized, "Invalid API key"))
		return
	}
	c, err := d.accept(w, r)
	if err != nil {
		return
	}
	defer c.CloseNow()
	c.SetReadLimit(strangerBytes)
	ctx, cancel := context.WithTimeout(d.api.closing, d.api.limits.Stranger)
	defer cancel()
	if _, body, err := c.Read(ctx); err == nil {
		id, _ := messageID(body)
		// A stranger who has gone does not miss it.
		_ = c.Write(ctx, websocket.MessageText, rpcError(id, http.StatusUnauthorized, "Invalid API key", ""))
	}
	c.Close(statusUnauthorized, "Invalid API key")
}
