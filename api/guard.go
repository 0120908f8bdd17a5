package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
)

// Access is what a route asks of its visitors. The zero value asks for a key
// unless the visitor is the owner's own process on loopback. Host, Origin and
// Sec-Fetch-Site are checked on every route, and so is whose process it is.
type Access struct {
	Open   bool // nobody is asked for a key
	Key    bool // everybody is asked for a key, also on loopback
	Ticket bool // a session's ticket does in place of a key
	Stream bool // may last for hours; ended when the hub stops
	Static bool // holds nobody's speech: caches may keep it

	// AnyKey lets those in that need none and show a key of another service:
	// programs made for that service send theirs, or a made-up one. What looks
	// like a key of ours is checked as everywhere.
	AnyKey bool
	// Refuse answers who is not let in, in the words of the service that the
	// route stands for; nil for our own.
	Refuse func(w http.ResponseWriter, status int, err error)

	// once lets those in who show a ticket of POST /v1/ws-ticket.
	once bool
	// stranger answers those who would come in by WebSocket without a good
	// key, in place of a plain 401.
	stranger func(w http.ResponseWriter, r *http.Request)
}

// A route is one handler behind the guard.
type route struct {
	api    *API
	name   string
	access Access
	next   http.Handler
	rpc    bool // speaks JSON-RPC, so refusals do too
	meter  routeMeter
}

func (a *API) route(name string, access Access, next http.Handler) *route {
	return &route{api: a, name: name, access: access, next: next, meter: a.metrics.route(name)}
}

// Why a visitor's context ended before its time.
var (
	errRevoked error = hearken.Errorf(hearken.Unauthorized, "Invalid API key") // an answer, too
	errClosing       = errors.New("hub stops")
	errLeft          = errors.New("client left") // not the same as a call that is cancelled
)

func (rt *route) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := rt.api
	start := time.Now()
	a.handling.Add(1)
	defer a.handling.Done()
	res := &response{ResponseWriter: w, api: a, static: rt.access.Static, refuser: rt.access.Refuse}
	if rt.rpc {
		res.rpc = &rpcErrors{}
	}
	res.deadline() // one from the request before may be over
	rt.serve(res, r)
	if res.rpc != nil && res.rpc.status != 0 {
		res.rpc.finish(res, http.StatusText(res.rpc.status))
	}
	a.metrics.answered.Add(1)
	rt.meter.count(res.status, time.Since(start), rt.access.Stream)
	a.logRequest(rt, r, res, start)
}

// serve lets the visitor in, or says why not.
func (rt *route) serve(w *response, r *http.Request) {
	a := rt.api
	p := peerOf(r.Context())
	if p == nil {
		w.refuse(http.StatusInternalServerError, hearken.Errorf("", "This door has no guard."))
		return
	}
	if status, err := rt.admit(w, r, p); err != nil {
		rt.refused(r, p, err)
		w.refuse(status, err)
		return
	}
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	id, m, status, err := rt.identify(w, r, p)
	if err != nil {
		rt.refused(r, p, err)
		if rt.access.stranger != nil && isUpgrade(r) && status == http.StatusUnauthorized {
			rt.access.stranger(w, r)
			return
		}
		w.refuse(status, err)
		return
	}
	w.id = id
	ctx := context.WithValue(r.Context(), identityKey{}, id)
	if m != nil || rt.access.Stream {
		var cancel context.CancelCauseFunc
		ctx, cancel = context.WithCancelCause(ctx)
		defer cancel(nil)
		if m != nil {
			a.keys.enter()
			defer a.keys.leave()
			defer context.AfterFunc(m.revoked, func() {
				cancel(errRevoked)
				w.cut()
			})()
		}
		if rt.access.Stream {
			defer context.AfterFunc(a.closing, func() { cancel(errClosing) })()
		}
	}
	rt.next.ServeHTTP(w, r.WithContext(ctx))
}

// refused tells that somebody was not let in.
func (rt *route) refused(r *http.Request, p *peer, err *hearken.Error) {
	rt.api.metrics.refused(err.Code)
	if rt.api.cfg.Refused != nil {
		rt.api.cfg.Refused(r.Context(), p.addr.String(), rt.name, err.Code)
	}
}

// admit checks what does not depend on who comes: the name the hub was called
// by, the page that called it, and whose process it is.
func (rt *route) admit(w *response, r *http.Request, p *peer) (int, *hearken.Error) {
	a := rt.api
	if !a.names.serves(r.Host, p.door) {
		return http.StatusForbidden, hearken.Errorf(hearken.Forbidden, "This hub does not answer to the name %q.", hostname(r.Host)).
			WithTry("http://127.0.0.1, or set PUBLIC_URL to the address that you use")
	}
	from := r.Header.Get("Origin")
	if len(r.Header["Origin"]) > 1 || !a.names.trusts(from, r.Host, r.TLS != nil) {
		return http.StatusForbidden, hearken.Errorf(hearken.Forbidden, "Pages of another site may not use this hub.")
	}
	site := r.Header.Get("Sec-Fetch-Site")
	if site != "" && site != "same-origin" && site != "none" && !a.names.origins[strings.ToLower(from)] {
		return http.StatusForbidden, hearken.Errorf(hearken.Forbidden, "Pages of another site may not use this hub.")
	}
	if from != "" {
		w.crossOrigin(from, r)
	}
	if errors.Is(p.own(a), errForeign) && !a.names.relayed() {
		return http.StatusForbidden, hearken.Errorf(hearken.Forbidden, "This hub belongs to another user of this computer.").
			WithTry("start your own with: hearken serve --port 0")
	}
	return 0, nil
}

// isUpgrade reports whether a request asks for a WebSocket.
func isUpgrade(r *http.Request) bool {
	return len(r.Header["Upgrade"]) > 0 && strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}
