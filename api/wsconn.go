package api

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A wsConn is one WebSocket as the SDK sees it. It is its own transport.
type wsConn struct {
	c       *websocket.Conn
	serving context.Context // cancelled, with a cause, when the hub ends the connection
	limits  *Limits
	first   jsonrpc.Message // read before the SDK began

	mu      sync.Mutex
	calls   map[jsonrpc.ID]bool // read and not yet answered; true if drain waits for it
	sending int                 // answers being sent
	drained chan struct{}       // not nil when the hub stops; closed when no call is left
	denied  bool                // the key was revoked
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

// Read returns the next valid message. It answers an invalid one with an error,
// and so a call beyond the limit, because the SDK would queue calls without end.
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
		if req, ok := m.(*jsonrpc.Request); ok && req.IsCall() && !w.beginCall(req) {
			id, _ := messageID(body)
			if err := w.send(ctx, w.refusalOf(id)); err != nil {
				return nil, err
			}
			continue
		}
		return m, nil
	}
}

func (w *wsConn) beginCall(req *jsonrpc.Request) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.denied || w.drained != nil || len(w.calls) >= w.limits.InFlight {
		return false
	}
	w.calls[req.ID] = req.Method != "subscriptions/listen" // which has no end
	return true
}

// refusalOf is the answer to a call that is not started.
func (w *wsConn) refusalOf(id json.RawMessage) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.denied {
		return rpcError(id, http.StatusUnauthorized, "Invalid API key", "")
	}
	return rpcError(id, http.StatusTooManyRequests, "Too many calls at a time on this connection, or the hub is stopping.", "")
}

// deny answers running and later calls with "Invalid API key", and drops their
// results.
func (w *wsConn) deny() {
	w.mu.Lock()
	w.denied = true
	calls := slices.Collect(maps.Keys(w.calls))
	clear(w.calls)
	w.mu.Unlock()
	for _, call := range calls {
		id, err := json.Marshal(call.Raw())
		if err != nil {
			continue // a string or a number always encodes
		}
		if w.send(context.Background(), w.refusalOf(id)) != nil {
			return
		}
	}
}

// answer sends the answer to a call. The call counts as done before its answer
// is sent, because the client may send the next call at once.
func (w *wsConn) answer(ctx context.Context, id jsonrpc.ID, b []byte) error {
	w.mu.Lock()
	if w.denied {
		w.mu.Unlock()
		return nil // deny has answered it
	}
	delete(w.calls, id)
	w.sending++
	w.mu.Unlock()
	err := w.send(ctx, b)
	w.mu.Lock()
	w.sending--
	w.checkDrained()
	w.mu.Unlock()
	return err
}

// checkDrained ends drain when no call is left. It is called with mu held.
func (w *wsConn) checkDrained() {
	for _, awaited := range w.calls {
		if awaited {
			return
		}
	}
	if w.drained != nil && w.sending == 0 {
		w.settled.Do(func() { close(w.drained) })
	}
}

// drain accepts no more calls and returns when the running ones are answered.
// The SDK drops their answers if it is closed before.
func (w *wsConn) drain() {
	w.mu.Lock()
	w.drained = make(chan struct{})
	w.checkDrained()
	w.mu.Unlock()
	select {
	case <-w.drained:
	case <-time.After(w.limits.Drain):
	}
}

// forgetCalls forgets the calls of a connection that has ended: nobody waits for
// their answers.
func (w *wsConn) forgetCalls() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.calls)
	w.checkDrained()
}

// reject answers what is not a JSON-RPC message.
func (w *wsConn) reject(ctx context.Context, body []byte) error {
	id, valid := messageID(body)
	if !valid {
		return w.send(ctx, rpcError(nil, jsonrpc.CodeParseError, "Parse error: the message is not JSON.", ""))
	}
	return w.send(ctx, rpcError(id, jsonrpc.CodeInvalidRequest, "Invalid request: not a JSON-RPC 2.0 message. Batches are not supported here.", ""))
}

// Write implements [mcp.Connection].
func (w *wsConn) Write(ctx context.Context, m jsonrpc.Message) error {
	b, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	if res, ok := m.(*jsonrpc.Response); ok {
		return w.answer(ctx, res.ID, b)
	}
	return w.send(ctx, b)
}

func (w *wsConn) send(ctx context.Context, b []byte) error {
	ctx, cancel := context.WithTimeout(ctx, w.limits.Write)
	defer cancel()
	return w.c.Write(ctx, websocket.MessageText, b)
}

// Close implements [mcp.Connection].
func (w *wsConn) Close() error {
	w.closeWithReason()
	return nil
}

// closeWithReason closes the connection and tells the client why.
func (w *wsConn) closeWithReason() {
	w.closed.Do(func() {
		switch cause := context.Cause(w.serving); {
		case errors.Is(cause, errRevoked):
			w.c.Close(statusUnauthorized, "key revoked")
		case errors.Is(cause, errClosing):
			w.c.Close(websocket.StatusGoingAway, "hub stops")
		default:
			w.c.Close(websocket.StatusNormalClosure, "")
		}
	})
}

// pingUntil closes the connection if the client stops answering pings.
func (w *wsConn) pingUntil(ended <-chan struct{}) {
	tick := time.Tick(w.limits.Ping)
	for {
		select {
		case <-ended:
			return
		case <-tick:
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
