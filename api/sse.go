package api

import (
	"crypto/rand"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
)

// An sseDoor speaks the HTTP+SSE form of MCP, of protocol version 2024-11-05:
// a GET stays open and carries the answers, POSTs to the address that it
// names carry the calls. The SDK has a handler for it too, which does not ask
// whose a session is.
type sseDoor struct {
	api *API

	mu   sync.Mutex
	byID map[string]*sseSession
}

type sseSession struct {
	principal string
	transport *mcp.SSEServerTransport
	connected chan struct{} // closed when the transport takes messages
}

func newSSEDoor(a *API) *sseDoor {
	return &sseDoor{api: a, byID: map[string]*sseSession{}}
}

func (d *sseDoor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet:
		d.listen(w.(*response), r)
	case http.MethodPost:
		d.post(w.(*response), r)
	default:
		w.Header().Set("Allow", "GET, POST")
		w.(*response).refuse(http.StatusMethodNotAllowed, hearken.Errorf(hearken.Invalid, "The SSE door takes GET and POST."))
	}
}

// listen holds one session for as long as the GET stays open.
func (d *sseDoor) listen(w *response, r *http.Request) {
	server, err := d.api.server(r.Context(), "sse")
	if err != nil {
		w.refuse(http.StatusInternalServerError, hearken.Errorf("", "There is no server for this caller."))
		return
	}
	id := rand.Text()
	s := &sseSession{
		principal: CallerFrom(r.Context()).Principal,
		transport: &mcp.SSEServerTransport{Endpoint: r.URL.Path + "?sessionid=" + id, Response: w, MaxRequestBodyBytes: d.api.limits.Body},
		connected: make(chan struct{}),
	}
	if !d.api.mcp.sessions.reserve() {
		w.Header().Set("Retry-After", "10")
		w.refuse(http.StatusServiceUnavailable, hearken.Errorf(hearken.Busy, "There are too many MCP sessions.").WithTry("again in a moment"))
		return
	}
	defer d.api.mcp.sessions.release()
	d.api.metrics.sessions.Inc()
	defer d.api.metrics.sessions.Dec()
	// Connecting tells the client where to post, so it may do so before that
	// returns.
	d.mu.Lock()
	d.byID[id] = s
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		delete(d.byID, id)
		d.mu.Unlock()
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	ss, err := server.Connect(r.Context(), s.transport, nil)
	close(s.connected)
	if err != nil {
		return
	}
	ended := make(chan struct{})
	go func() {
		_ = ss.Wait() // however it ends
		close(ended)
	}()
	select {
	case <-r.Context().Done():
	case <-ended:
	}
	// Waits for calls that are under way: they still write to this response.
	_ = ss.Close() // the client may have hung up first
	<-ended
}

// post takes one message for a session of the same principal.
func (d *sseDoor) post(w *response, r *http.Request) {
	d.mu.Lock()
	s := d.byID[r.URL.Query().Get("sessionid")]
	d.mu.Unlock()
	if s == nil || s.principal != CallerFrom(r.Context()).Principal {
		w.refuse(http.StatusNotFound, hearken.Errorf(hearken.NotFound, "There is no such MCP session.").WithTry("GET /sse first"))
		return
	}
	body, status, err := d.api.mcp.read(w, r)
	if err != nil {
		w.refuse(status, err)
		return
	}
	w.rpc.body = body
	<-s.connected
	s.transport.ServeHTTP(w, r)
}
