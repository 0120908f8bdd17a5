package api

import (
	"bufio"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hearken-dev/hearken"
)

// A response is what a handler writes to. It keeps caches from storing answers,
// gives each write a deadline, and on routes that speak JSON-RPC turns
// plain-text errors into JSON-RPC ones.
type response struct {
	http.ResponseWriter
	api     *API
	refuser func(w http.ResponseWriter, status int, err error) // nil for Hearken's own form
	rpc     *rpcErrors                                         // nil on routes that do not speak JSON-RPC
	status  int                                                // 0 until the header is written
	caller  *hearken.Caller
	conn    atomic.Pointer[net.Conn] // if a handler hijacked it

	onHeader func() // called before the header is written; may be nil
}

// Header values that answers share. They must not be changed.
var (
	noStore   = []string{"private, no-store"} // keeps speech out of every cache
	noSniff   = []string{"nosniff"}
	noBuffers = []string{"no"} // makes nginx forward each event at once
)

// cutAfter is how long a handler has to close a hijacked connection.
const cutAfter = time.Second

func (w *response) WriteHeader(status int) {
	if w.status != 0 {
		return
	}
	if w.rpc != nil && w.rpc.deferText(w.Header(), status) {
		return
	}
	w.writeHeader(status)
}

func (w *response) writeHeader(status int) {
	w.status = status
	if w.onHeader != nil {
		w.onHeader()
	}
	h := w.Header()
	h["X-Content-Type-Options"] = noSniff
	h["Cache-Control"] = noStore
	if h.Get("Content-Type") == "text/event-stream" {
		h["X-Accel-Buffering"] = noBuffers
	}
	if status != http.StatusSwitchingProtocols {
		w.setWriteDeadline()
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *response) Write(b []byte) (int, error) {
	if w.rpc != nil && w.rpc.status != 0 {
		w.rpc.finish(w, strings.TrimSpace(string(b)))
		return len(b), nil
	}
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	} else {
		w.setWriteDeadline()
	}
	return w.ResponseWriter.Write(b)
}

// setWriteDeadline sets the deadline of the next write. A stream as a whole has none, but
// a client that does not read must not block its writer.
func (w *response) setWriteDeadline() {
	http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.api.limits.Write))
}

// Flush implements [http.Flusher].
func (w *response) Flush() {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	_ = http.NewResponseController(w.ResponseWriter).Flush() // the next write fails too
}

// Unwrap lets [http.ResponseController] and the WebSocket library reach the
// connection.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Hijack implements [http.Hijacker] and stores the connection for closeHijackedSoon.
func (w *response) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		w.conn.Store(&c)
	}
	return c, rw, err
}

// closeHijackedSoon closes a hijacked connection if its handler does not do so soon.
func (w *response) closeHijackedSoon() {
	if c := w.conn.Load(); c != nil {
		time.AfterFunc(cutAfter, func() { (*c).Close() })
	}
}

// refuse answers with an error in the form of the route.
func (w *response) refuse(status int, err *hearken.Error) {
	if w.rpc != nil {
		w.rpc.status = 0
		w.writeRPC(status, nil, int64(status), err.Message, err.Try)
		return
	}
	if w.refuser != nil {
		w.refuser(w, status, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.writeHeader(status)
	b, _ := json.Marshal(map[string]*hearken.Error{"error": err})
	_, _ = w.ResponseWriter.Write(append(b, '\n')) // the client may have gone
}

// crossOrigin tells the browser that a page of this origin may read the answer.
func (w *response) crossOrigin(origin string, r *http.Request) {
	h := w.Header()
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate")
	if r.Method == http.MethodOptions {
		h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE")
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name")
		h.Set("Access-Control-Max-Age", "600")
	}
}

func notFound(w http.ResponseWriter, r *http.Request) {
	w.(*response).refuse(http.StatusNotFound, hearken.Errorf(hearken.NotFound, "There is nothing at %s.", r.URL.Path))
}
