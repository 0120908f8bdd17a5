package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
)

// statelessVersion is the first protocol version without sessions.
const statelessVersion = "2026-07-28"

// An mcpTransport serves MCP over HTTP, in every protocol version, on one URL.
//
// The SDK has a handler for clients with sessions and one for clients without;
// both use the same servers here. A client that has no session and does not ask
// for one is answered without: the newest clients, clients that accept no event
// stream, and people who send a single call with curl.
type mcpTransport struct {
	api      *API
	sessions *sessions
	stateful http.Handler // with sessions, as events
	events   http.Handler // without sessions, as events
	plain    http.Handler // without sessions, as plain JSON
}

func newMCPTransport(a *API) *mcpTransport {
	server := func(r *http.Request) *mcp.Server { return a.server(r.Context(), hearken.TransportHTTP) }
	options := mcp.StreamableHTTPOptions{
		DisableLocalhostProtection:   true, // the guard has checked the host
		MaxRequestBodyBytes:          -1,   // readBody limits it
		PropagateRequestCancellation: true,
	}
	t := &mcpTransport{api: a}
	withSession := options
	withSession.EventStore = newEventStore()
	t.stateful = mcp.NewStreamableHTTPHandler(server, &withSession)
	options.Stateless = true
	t.events = mcp.NewStreamableHTTPHandler(server, &options)
	options.JSONResponse = true
	t.plain = mcp.NewStreamableHTTPHandler(server, &options)
	t.sessions = &sessions{api: a, handler: t.stateful, byID: map[string]*session{}, free: a.limits.Sessions}
	return t
}

// The headers of the protocol, spelled as net/http does.
const (
	headerSession   = "Mcp-Session-Id"
	headerVersion   = "Mcp-Protocol-Version"
	headerLastEvent = "Last-Event-Id"
)

var (
	acceptBoth  = []string{"application/json, text/event-stream"}
	contentJSON = []string{"application/json"}
)

func (t *mcpTransport) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	res := w.(*response)
	if r.Method == http.MethodPost {
		body, no := t.readBody(w, r)
		if no != nil {
			res.refuse(no.status, no.err)
			return
		}
		res.rpc.body = body
		if !json.Valid(body) { // the SDK would answer the first of several messages and drop the rest
			res.writeRPC(http.StatusBadRequest, nil, jsonrpc.CodeParseError, "Parse error: the message is not JSON.", "")
			return
		}
		if err := t.checkBatch(body); err != nil {
			res.writeRPC(http.StatusBadRequest, nil, jsonrpc.CodeInvalidRequest, err.Message, "")
			return
		}
	}
	version := r.Header.Get(headerVersion)
	switch {
	case version >= statelessVersion:
		r, end := withDisconnectCause(r)
		defer end()
		t.answer(w, r)
	case r.Header.Get(headerSession) != "":
		if caller := CallerFrom(r.Context()); r.Header.Get(headerLastEvent) != "" && caller != nil && t.api.cfg.OnResume != nil {
			t.api.cfg.OnResume(caller.Principal)
		}
		t.sessions.serve(res, r)
	case r.Method != http.MethodPost:
		t.stateful.ServeHTTP(w, r)
	case acceptsEvents(r) && isInitialize(res.rpc.body):
		t.sessions.begin(res, r)
	default:
		t.answer(w, r)
		if errors.Is(context.Cause(r.Context()), errRevoked) {
			answerRevoked(res)
		}
	}
}

// withDisconnectCause makes the cancellation of a lost connection carry errDisconnected, so
// that a handler can tell it from a call that the client cancelled. Only the
// newest clients' calls end with their connection.
func withDisconnectCause(r *http.Request) (*http.Request, func()) {
	gone := r.Context()
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(gone))
	stop := context.AfterFunc(gone, func() {
		cause := context.Cause(gone)
		if errors.Is(cause, context.Canceled) {
			cause = errDisconnected
		}
		cancel(cause)
	})
	return r.WithContext(ctx), func() {
		stop()
		cancel(nil)
	}
}

// answer answers a call that belongs to no session, in plain JSON unless the
// client says that it takes events.
func (t *mcpTransport) answer(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || acceptsEvents(r) {
		t.normalise(r)
		t.events.ServeHTTP(w, r)
		return
	}
	r.Header["Accept"] = acceptBoth
	t.normalise(r)
	t.plain.ServeHTTP(w, r)
}

// normalise accepts a bare call with the Content-Type that curl sends, that of a
// form. A page of another site could send that without a preflight request; the
// check of Origin and Sec-Fetch-Site refuses it.
func (t *mcpTransport) normalise(r *http.Request) {
	if r.Header.Get(headerVersion) == "" {
		r.Header["Content-Type"] = contentJSON
	}
}

// acceptsEvents reports whether a client accepts an event stream.
func acceptsEvents(r *http.Request) bool {
	return slices.ContainsFunc(r.Header["Accept"], func(v string) bool { return strings.Contains(v, "text/event-stream") })
}

// readBody reads the whole body, within the limits of size and time, and puts it
// back for the SDK.
func (t *mcpTransport) readBody(w http.ResponseWriter, r *http.Request) ([]byte, *refusal) {
	limit := t.api.limits.Body
	rc := http.NewResponseController(w)
	rc.SetReadDeadline(time.Now().Add(t.api.limits.BodyRead))
	var body []byte
	var err error
	switch {
	case r.ContentLength > limit:
		err = &http.MaxBytesError{Limit: limit}
	case r.ContentLength >= 0:
		body = make([]byte, r.ContentLength)
		_, err = io.ReadFull(r.Body, body)
	default:
		body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	}
	if err != nil {
		w.Header().Set("Connection", "close")
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return nil, &refusal{status: http.StatusRequestEntityTooLarge, err: hearken.Errorf(hearken.Invalid, "The message is larger than %d bytes.", limit)}
		}
		return nil, &refusal{status: http.StatusBadRequest, err: hearken.Errorf(hearken.Invalid, "The message is incomplete.")}
	}
	rc.SetReadDeadline(time.Time{})
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body, nil
}

// checkBatch refuses a batch with more calls than may run at a time: the SDK
// would start them all at once.
func (t *mcpTransport) checkBatch(body []byte) *hearken.Error {
	trimmed := bytes.TrimLeft(body, " \t\r\n")
	if len(trimmed) == 0 || trimmed[0] != '[' {
		return nil
	}
	var batch []json.RawMessage
	if json.Unmarshal(body, &batch) == nil && len(batch) > t.api.limits.InFlight {
		return hearken.Errorf(hearken.Invalid, "A batch may hold at most %d messages.", t.api.limits.InFlight)
	}
	return nil
}

func isInitialize(body []byte) bool {
	return bytes.Contains(body, []byte("initialize")) && messageMethod(body) == "initialize"
}
