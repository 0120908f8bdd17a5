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

// statusUnauthorized closes a WebSocket whose key is wrong or was revoked.
const statusUnauthorized websocket.StatusCode = 4401

// rejectionBytes bounds the one message that is read from a client without a key.
const rejectionBytes = 64 << 10

// A wsTransport serves MCP over WebSocket, one message per frame. A client may
// begin with initialize, in any protocol version, or with a bare call.
type wsTransport struct {
	api        *API
	rejections chan struct{} // one for each that is being answered
}

func newWSTransport(a *API) *wsTransport {
	return &wsTransport{api: a, rejections: make(chan struct{}, a.limits.Rejections)}
}

func (t *wsTransport) accept(w http.ResponseWriter, r *http.Request) (*websocket.Conn, error) {
	return websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols:       []string{"mcp"},
		InsecureSkipVerify: true, // the guard has checked the origin
	})
}

func (t *wsTransport) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !isUpgrade(r) {
		w.Header().Set("Upgrade", "websocket")
		w.(*response).refuse(http.StatusUpgradeRequired, hearken.Errorf(hearken.Invalid, "This address speaks MCP over WebSocket.").WithTry("POST %s/mcp for MCP over HTTP", t.api.URL()))
		return
	}
	c, err := t.accept(w, r)
	if err != nil {
		return // Accept has answered
	}
	t.api.metrics.sockets.Inc()
	defer t.api.metrics.sockets.Dec()
	c.SetReadLimit(t.api.limits.Body)
	t.serve(r.Context(), c, t.api.server(r.Context(), hearken.TransportWebSocket))
}

// serve runs one connection until either side ends it, the key is revoked or
// the hub stops.
func (t *wsTransport) serve(ctx context.Context, c *websocket.Conn, server *mcp.Server) {
	conn := &wsConn{c: c, serving: ctx, limits: &t.api.limits, calls: map[jsonrpc.ID]bool{}}
	defer conn.closeWithReason()
	ended := make(chan struct{})
	var pinging sync.WaitGroup
	pinging.Go(func() { conn.pingUntil(ended) })
	defer pinging.Wait()
	defer close(ended)

	// Cancelling a read's context would drop the connection without a reason.
	stopClosing := context.AfterFunc(ctx, conn.closeWithReason)
	first, err := conn.Read(context.WithoutCancel(ctx))
	if !stopClosing() || err != nil {
		return
	}
	conn.first = first
	ss, err := server.Connect(context.WithoutCancel(ctx), conn, &mcp.ServerSessionOptions{State: InitialState(first)})
	if err != nil {
		return
	}
	stopClosing = context.AfterFunc(ctx, func() {
		if errors.Is(context.Cause(ctx), errRevoked) {
			conn.deny() // a revoked key gets no more answers
		} else {
			conn.drain()
		}
		conn.closeWithReason()
	})
	_ = ss.Wait() // how it ends does not matter
	conn.forgetCalls()
	stopClosing()
}

// InitialState is the initial state of a connection that begins with this
// message. One that begins with a bare call counts as initialised, as in the
// SDK's HTTP handler without sessions.
func InitialState(first jsonrpc.Message) *mcp.ServerSessionState {
	if !isBareCall(first) {
		return nil
	}
	return &mcp.ServerSessionState{
		InitializeParams:  &mcp.InitializeParams{ProtocolVersion: "2025-03-26"},
		InitializedParams: &mcp.InitializedParams{},
		LogLevel:          "info",
	}
}

// isBareCall reports whether a connection begins with a plain JSON-RPC call, and
// not with a handshake of any protocol version.
func isBareCall(m jsonrpc.Message) bool {
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

// reject answers a WebSocket without a valid key in a way that MCP clients
// understand: it reads one message and answers it with an error. Only a few are
// answered so at a time; the others get a plain 401.
func (t *wsTransport) reject(w http.ResponseWriter, r *http.Request) {
	select {
	case t.rejections <- struct{}{}:
		defer func() { <-t.rejections }()
	default:
		w.(*response).refuse(http.StatusUnauthorized, hearken.Errorf(hearken.Unauthorized, "Invalid API key"))
		return
	}
	c, err := t.accept(w, r)
	if err != nil {
		return
	}
	defer c.CloseNow()
	c.SetReadLimit(rejectionBytes)
	ctx, cancel := context.WithTimeout(t.api.closing, t.api.limits.RejectionRead)
	defer cancel()
	if _, body, err := c.Read(ctx); err == nil {
		id, _ := messageID(body)
		// The client may have gone.
		_ = c.Write(ctx, websocket.MessageText, rpcError(id, http.StatusUnauthorized, "Invalid API key", ""))
	}
	c.Close(statusUnauthorized, "Invalid API key")
}
