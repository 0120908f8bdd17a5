package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

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
	defer conn.Close()
	ended := make(chan struct{})
	var pinging sync.WaitGroup
	pinging.Go(func() { conn.pings(ended) })
	defer pinging.Wait()
	defer close(ended)

	// Ending a read by its context would end the connection without a word.
	goodbye := context.AfterFunc(ctx, func() { conn.Close() })
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
		if !errors.Is(context.Cause(ctx), errRevoked) {
			conn.drain() // a revoked key has lost its right at once
		}
		conn.Close()
	})
	ss.Wait()
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
	json.Unmarshal(req.Params, &p)
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
		c.Write(ctx, websocket.MessageText, rpcError(id, http.StatusUnauthorized, "Invalid API key", ""))
	}
	c.Close(statusUnauthorized, "Invalid API key")
}

// A wsConn is one WebSocket as the SDK sees it. It is its own transport.
type wsConn struct {
	c      *websocket.Conn
	why    context.Context // ends, with a cause, if it is the hub that ends it
	limits *Limits
	first  jsonrpc.Message // read before the SDK began to

	mu      sync.Mutex
	calls   map[jsonrpc.ID]bool // read and not yet answered, and whether a stop waits for them
	drained chan struct{}       // not nil when the hub stops; closed when none is left
	settled sync.Once
	closed  sync.Once
}

var (
	_ mcp.Transport  = (*wsConn)(nil)
	_ mcp.Connection = (*wsConn)(nil)
)

// Connect implements [mcp.Transport].
func (w *wsConn) Connect(context.Context) (mcp.Connection, error) { return w, nil }

// SessionID implements [mcp.Connection].
func (w *wsConn) SessionID() string { return "" }

// Read returns the next message that makes sense. One that does not is
// answered and passed over, and so is a call beyond those that may be under
// way: the SDK would queue them without end.
func (w *wsConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	if m := w.first; m != nil {
		w.first = nil
		return m, nil
	}
	for {
		_, body, err := w.c.Read(ctx)
		if err != nil {
			return nil, err
		}
		m, err := jsonrpc.DecodeMessage(body)
		if err != nil {
			if err := w.reject(ctx, body); err != nil {
				return nil, err
			}
			continue
		}
		if req, ok := m.(*jsonrpc.Request); ok && req.IsCall() && !w.begin(req) {
			id, _ := messageID(body)
			if err := w.send(ctx, rpcError(id, http.StatusTooManyRequests, "Too many calls at a time on this connection, or the hub stops.", "")); err != nil {
				return nil, err
			}
			continue
		}
		return m, nil
	}
}

func (w *wsConn) begin(req *jsonrpc.Request) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.drained != nil || len(w.calls) >= w.limits.InFlight {
		return false
	}
	w.calls[req.ID] = req.Method != "subscriptions/listen" // which never ends by itself
	return true
}

func (w *wsConn) finish(id jsonrpc.ID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.calls, id)
	w.settle()
}

// settle tells drain when nothing is left to wait for. It is called with mu
// held.
func (w *wsConn) settle() {
	for _, awaited := range w.calls {
		if awaited {
			return
		}
	}
	if w.drained != nil {
		w.settled.Do(func() { close(w.drained) })
	}
}

// drain takes no more calls and returns when those under way are answered:
// the SDK drops their answers if it is told to close before.
func (w *wsConn) drain() {
	w.mu.Lock()
	w.drained = make(chan struct{})
	w.settle()
	w.mu.Unlock()
	timeout := time.NewTimer(w.limits.Drain)
	defer timeout.Stop()
	select {
	case <-w.drained:
	case <-timeout.C:
	}
}

// gone forgets the calls of a connection that has ended: nobody waits for
// their answers.
func (w *wsConn) gone() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.calls)
	w.settle()
}

// reject answers what is no JSON-RPC message.
func (w *wsConn) reject(ctx context.Context, body []byte) error {
	id, valid := messageID(body)
	if !valid {
		return w.send(ctx, rpcError(nil, rpcParse, "Parse error: the message is not JSON.", ""))
	}
	return w.send(ctx, rpcError(id, rpcInvalidRequest, "Invalid request: not a JSON-RPC 2.0 message. Batches are not taken here.", ""))
}

// Write implements [mcp.Connection].
func (w *wsConn) Write(ctx context.Context, m jsonrpc.Message) error {
	b, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	if res, ok := m.(*jsonrpc.Response); ok {
		defer w.finish(res.ID)
	}
	return w.send(ctx, b)
}

func (w *wsConn) send(ctx context.Context, b []byte) error {
	ctx, cancel := context.WithTimeout(ctx, w.limits.Write)
	defer cancel()
	return w.c.Write(ctx, websocket.MessageText, b)
}

// Close implements [mcp.Connection]. It says goodbye with the reason.
func (w *wsConn) Close() error {
	w.closed.Do(func() {
		switch cause := context.Cause(w.why); {
		case errors.Is(cause, errRevoked):
			w.c.Close(statusUnauthorized, "key revoked")
		case errors.Is(cause, errClosing):
			w.c.Close(websocket.StatusGoingAway, "hub stops")
		default:
			w.c.Close(websocket.StatusNormalClosure, "")
		}
	})
	return nil
}

// pings finds out that the other side is gone without having said so.
func (w *wsConn) pings(ended <-chan struct{}) {
	tick := time.NewTicker(w.limits.Ping)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
			ctx, cancel := context.WithTimeout(context.Background(), w.limits.Ping)
			err := w.c.Ping(ctx)
			cancel()
			if err != nil {
				w.c.CloseNow()
				return
			}
		}
	}
}
