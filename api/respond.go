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

// A response is what a handler writes to. It marks what it carries as private
// to caches, lets no single write hang for ever, and on the doors that speak
// JSON-RPC turns plain-text errors into JSON-RPC ones.
type response struct {
	http.ResponseWriter
	api     *API
	static  bool
	refuser func(w http.ResponseWriter, status int, err error) // nil for our own words
	rpc     *rpcErrors                                         // nil on doors that do not speak JSON-RPC
	status  int                                                // 0 until the header is written
	id      *Identity
	conn    atomic.Pointer[net.Conn] // if a handler took it over

	onHeader func() // called before the header is written; may be nil
}

// Header values that every answer shares; they are never changed.
var (
	noStore   = []string{"private, no-store"} // keeps speech out of every cache
	noSniff   = []string{"nosniff"}
	noBuffers = []string{"no"} // lets events pass nginx one by one
)

// cutAfter is how long a handler has to end a connection that is its own.
const cutAfter = time.Second

func (w *response) WriteHeader(status int) {
	if w.status != 0 {
		return
	}
	if w.rpc != nil && w.rpc.begin(w.Header(), status) {
		return
	}
	w.header(status)
}

func (w *response) header(status int) {
	w.status = status
	if w.onHeader != nil {
		w.onHeader()
	}
	h := w.Header()
	h["X-Content-Type-Options"] = noSniff
	if !w.static {
		h["Cache-Control"] = noStore
	}
	if h.Get("Content-Type") == "text/event-stream" {
		h["X-Accel-Buffering"] = noBuffers
	}
	if status != http.StatusSwitchingProtocols {
		w.deadline()
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
		w.deadline()
	}
	return w.ResponseWriter.Write(b)
}

// deadline gives the next write its time. A stream as a whole has no end, but
// a reader that does not read must not hold its writer.
func (w *response) deadline() {
	http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.api.limits.Write))
}

// Flush implements [http.Flusher].
func (w *response) Flush() {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	_ = http.NewResponseController(w.ResponseWriter).Flush() // the next write tells
}

// Unwrap lets [http.ResponseController] and the WebSocket library reach the
// connection.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Hijack implements [http.Hijacker], and remembers the connection for cut.
func (w *response) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		w.conn.Store(&c)
	}
	return c, rw, err
}

// cut closes a hijacked connection whose handler does not end it when its
// context ends.
func (w *response) cut() {
	if c := w.conn.Load(); c != nil {
		time.AfterFunc(cutAfter, func() { (*c).Close() })
	}
}

// refuse answers with an error in the door's own language.
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
	h := w.Header()
	h.Set("Content-Type", "application/json")
	w.header(status)
	type body struct {
		Code    hearken.Code `json:"code,omitempty"`
		Message string       `json:"message"`
		Try     string       `json:"try,omitempty"`
	}
	b, _ := json.Marshal(map[string]body{"error": {err.Code, err.Message, err.Try}})
	_, _ = w.ResponseWriter.Write(append(b, '\n')) // a client that has gone does not miss it
}

// crossOrigin tells the browser that the page may read the answer. The page's
// own origin needs no such word and does not mind it.
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
