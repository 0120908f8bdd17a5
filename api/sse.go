package api

import (
	"crypto/rand"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
)

// An sseTransport serves the HTTP+SSE form of MCP, of protocol version
// 2024-11-05: a GET stays open and carries the answers, and POSTs to the address
// that it names carry the calls. The SDK's own handler does not check who owns a
// session.
type sseTransport struct {
	api *API

	mu   sync.Mutex
	byID map[string]*sseSession
}

type sseSession struct {
	principal string
	transport *mcp.SSEServerTransport
	connected chan struct{} // closed when the transport takes messages
}

func newSSETransport(a *API) *sseTransport {
	return &sseTransport{api: a, byID: map[string]*sseSession{}}
}

func (t *sseTransport) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet:
		t.listen(w.(*response), r)
	case http.MethodPost:
		t.post(w.(*response), r)
	default:
		w.Header().Set("Allow", "GET, POST")
		w.(*response).refuse(http.StatusMethodNotAllowed, hearken.Errorf(hearken.Invalid, "The SSE endpoint takes GET and POST."))
	}
}

// listen holds one session for as long as the GET stays open.
func (t *sseTransport) listen(w *response, r *http.Request) {
	id := rand.Text()
	s := &sseSession{
		principal: CallerFrom(r.Context()).Principal,
		transport: &mcp.SSEServerTransport{Endpoint: r.URL.Path + "?sessionid=" + id, Response: w, MaxRequestBodyBytes: t.api.limits.Body},
		connected: make(chan struct{}),
	}
	if !t.api.mcp.sessions.reserve(w) {
		return
	}
	defer t.api.mcp.sessions.release()
	t.api.metrics.sessions.Inc()
	defer t.api.metrics.sessions.Dec()
	// Connect tells the client where to post, so a POST may come before Connect
	// returns.
	t.mu.Lock()
	t.byID[id] = s
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		delete(t.byID, id)
		t.mu.Unlock()
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	ss, err := t.api.server(r.Context(), hearken.TransportSSE).Connect(r.Context(), s.transport, nil)
	close(s.connected)
	if err != nil {
		return
	}
	ended := make(chan struct{})
	go func() {
		_ = ss.Wait() // how it ends does not matter
		close(ended)
	}()
	select {
	case <-r.Context().Done():
	case <-ended:
	}
	// Waits for running calls: they still write to this response.
	_ = ss.Close() // the client may have closed it first
	<-ended
}

// post receives one message for a session of the same principal.
func (t *sseTransport) post(w *response, r *http.Request) {
	t.mu.Lock()
	s := t.byID[r.URL.Query().Get("sessionid")]
	t.mu.Unlock()
	if s == nil || s.principal != CallerFrom(r.Context()).Principal {
		w.refuse(http.StatusNotFound, hearken.Errorf(hearken.NotFound, "There is no such MCP session.").WithTry("GET /sse first"))
		return
	}
	body, no := t.api.mcp.readBody(w, r)
	if no != nil {
		w.refuse(no.status, no.err)
		return
	}
	w.rpc.body = body
	<-s.connected
	s.transport.ServeHTTP(w, r)
}
