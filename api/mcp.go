package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
)

// stateless is the first protocol version without sessions.
const stateless = "2026-07-28"

// An mcpDoor answers MCP over HTTP, of every generation, on one URL.
//
// The SDK has a handler for clients with sessions and one for those without;
// both serve the same servers here. Who has no session and does not ask for
// one is answered without: the newest clients, clients that take no event
// stream, and a person with curl who sends one bare call.
type mcpDoor struct {
	api      *API
	sessions *sessions
	stateful http.Handler // with sessions, as events
	events   http.Handler // without sessions, as events
	plain    http.Handler // without sessions, as plain JSON
}

func newMCPDoor(a *API) *mcpDoor {
	server := func(r *http.Request) *mcp.Server {
		s, err := a.server(r.Context(), "http")
		if err != nil {
			a.log.Debug("no MCP server", "error", err) // a client that has just left
		}
		return s
	}
	options := mcp.StreamableHTTPOptions{
		DisableLocalhostProtection:   true, // the guard knows more names
		MaxRequestBodyBytes:          -1,   // read counts
		PropagateRequestCancellation: true,
	}
	d := &mcpDoor{api: a}
	withSession := options
	withSession.EventStore = newEvents()
	d.stateful = mcp.NewStreamableHTTPHandler(server, &withSession)
	options.Stateless = true
	d.events = mcp.NewStreamableHTTPHandler(server, &options)
	options.JSONResponse = true
	d.plain = mcp.NewStreamableHTTPHandler(server, &options)
	d.sessions = newSessions(a, d.stateful)
	return d
}

// The headers that decide which handler answers, spelled as net/http does.
const (
	headerSession = "Mcp-Session-Id"
	headerVersion = "Mcp-Protocol-Version"
)

var (
	acceptBoth  = []string{"application/json, text/event-stream"}
	contentJSON = []string{"application/json"}
)

func (d *mcpDoor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	res := w.(*response)
	if r.Method == http.MethodPost {
		body, status, err := d.read(w, r)
		if err != nil {
			res.refuse(status, err)
			return
		}
		res.rpc.body = body
		if !json.Valid(body) { // the SDK would answer the first of several messages and drop the rest
			res.writeRPC(http.StatusBadRequest, nil, rpcParse, "Parse error: the message is not JSON.", "")
			return
		}
		if err := d.tooMany(body); err != nil {
			res.writeRPC(http.StatusBadRequest, nil, rpcInvalidRequest, err.Message, "")
			return
		}
	}
	version := r.Header.Get(headerVersion)
	switch {
	case version >= stateless:
		r, end := leaving(r)
		defer end()
		d.answer(w, r)
	case r.Header.Get(headerSession) != "":
		d.sessions.serve(res, r)
	case r.Method != http.MethodPost:
		d.stateful.ServeHTTP(w, r)
	case takesEvents(r) && isInitialize(res.rpc.body):
		d.sessions.begin(res, r)
	default:
		d.answer(w, r)
		if errors.Is(context.Cause(r.Context()), errRevoked) {
			deny(res)
		}
	}
}

// leaving has a handler know that a client which is gone has not cancelled its
// call: only the newest clients' calls end with their connection, and a lost
// one is no word from anybody.
func leaving(r *http.Request) (*http.Request, func()) {
	gone := r.Context()
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(gone))
	stop := context.AfterFunc(gone, func() {
		cause := context.Cause(gone)
		if errors.Is(cause, context.Canceled) {
			cause = errLeft
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
func (d *mcpDoor) answer(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || takesEvents(r) {
		d.normalise(r)
		d.events.ServeHTTP(w, r)
		return
	}
	r.Header["Accept"] = acceptBoth
	d.normalise(r)
	d.plain.ServeHTTP(w, r)
}

// normalise lets a bare call be sent as curl sends it, as a form. That is also
// how a page of another site could send one without asking: it is the check of
// Origin and Sec-Fetch-Site that keeps those out.
func (d *mcpDoor) normalise(r *http.Request) {
	if r.Header.Get(headerVersion) == "" {
		r.Header["Content-Type"] = contentJSON
	}
}

// takesEvents reports whether a client names the event stream itself among
// what it accepts.
func takesEvents(r *http.Request) bool {
	for _, v := range r.Header["Accept"] {
		if strings.Contains(v, "text/event-stream") {
			return true
		}
	}
	return false
}

// read takes the whole body, within its limits of size and time, and puts it
// back for the SDK.
func (d *mcpDoor) read(w http.ResponseWriter, r *http.Request) ([]byte, int, *hearken.Error) {
	limit := d.api.limits.Body
	tooLarge := func() ([]byte, int, *hearken.Error) {
		w.Header().Set("Connection", "close")
		return nil, http.StatusRequestEntityTooLarge, hearken.Errorf(hearken.Invalid, "The message is larger than %d bytes.", limit)
	}
	if r.ContentLength > limit {
		return tooLarge()
	}
	rc := http.NewResponseController(w)
	rc.SetReadDeadline(time.Now().Add(d.api.limits.BodyRead))
	var body []byte
	var err error
	if r.ContentLength >= 0 {
		body = make([]byte, r.ContentLength)
		_, err = io.ReadFull(r.Body, body)
	} else {
		body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	}
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return tooLarge()
		}
		w.Header().Set("Connection", "close")
		return nil, http.StatusBadRequest, hearken.Errorf(hearken.Invalid, "The message did not arrive whole.")
	}
	rc.SetReadDeadline(time.Time{})
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body, 0, nil
}

// tooMany refuses a batch with more calls than are worked on at a time: the
// SDK would begin them all at once.
func (d *mcpDoor) tooMany(body []byte) *hearken.Error {
	trimmed := bytes.TrimLeft(body, " \t\r\n")
	if len(trimmed) == 0 || trimmed[0] != '[' {
		return nil
	}
	var batch []json.RawMessage
	if json.Unmarshal(body, &batch) == nil && len(batch) > d.api.limits.InFlight {
		return hearken.Errorf(hearken.Invalid, "A batch may hold at most %d messages.", d.api.limits.InFlight)
	}
	return nil
}

func isInitialize(body []byte) bool {
	return bytes.Contains(body, []byte("initialize")) && messageMethod(body) == "initialize"
}
