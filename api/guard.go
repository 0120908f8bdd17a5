package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
)

// RouteAccess is what a route requires of its callers. The zero value requires a key, except from
// this user's own processes on loopback. Every route checks Host, Origin and
// Sec-Fetch-Site, and lets another user of this computer in only with a key or
// a ticket.
type RouteAccess struct {
	Open   bool // no key needed, except by another user of this computer
	Key    bool // a key needed even on loopback
	Ticket bool // a session's ticket is accepted instead of a key
	Stream bool // may last for hours; ended when the hub stops
	Linked bool // mail and pages of other sites may contain a link to it

	// AnyKey ignores a key of another service from callers that need none.
	// Programs made for that service send its keys, or made-up ones. A key that
	// looks like Hearken's is checked as everywhere.
	AnyKey bool
	// Refuse answers refused requests in the form of the service whose API the
	// route imitates; nil for Hearken's own form.
	Refuse func(w http.ResponseWriter, status int, err error)

	rpc bool // speaks JSON-RPC, also in refusals
	// wsTicket accepts a ticket of POST /v1/ws-ticket.
	wsTicket bool
	// lateTicket lets a WebSocket without a key or ticket in, whose handler
	// waits for a ticket. See [lateTicket].
	lateTicket bool
	// rejectWebSocket answers a WebSocket request without a valid key, in place
	// of a plain 401.
	rejectWebSocket func(w http.ResponseWriter, r *http.Request)
}

// A route is one handler behind the guard.
type route struct {
	api    *API
	name   string
	access RouteAccess
	next   http.Handler
	meter  routeMeter
}

func (a *API) route(name string, access RouteAccess, next http.Handler) *route {
	return &route{api: a, name: name, access: access, next: next, meter: a.metrics.route(name)}
}

// Why a request's context was cancelled.
var (
	errRevoked      error = hearken.Errorf(hearken.Unauthorized, "Invalid API key") // also sent to the client
	errClosing            = errors.New("hub stops")
	errDisconnected       = errors.New("client left") // unlike a call that the client cancels
	errNoTicket           = errors.New("no ticket came in time")
)

func (rt *route) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := rt.api
	start := time.Now()
	a.handling.Add(1)
	defer a.handling.Done()
	res := &response{ResponseWriter: w, api: a, refuser: rt.access.Refuse}
	if rt.access.rpc {
		res.rpc = &rpcErrors{}
	}
	res.setWriteDeadline() // replaces that of the request before
	rt.serve(res, r)
	if res.rpc != nil && res.rpc.status != 0 {
		res.rpc.finish(res, http.StatusText(res.rpc.status))
	}
	a.metrics.answered.Add(1)
	rt.meter.count(res.status, time.Since(start), rt.access.Stream)
	a.logRequest(rt, r, res, start)
}

// serve lets the request in, or answers why not.
func (rt *route) serve(w *response, r *http.Request) {
	a := rt.api
	p := peerOf(r.Context())
	if p == nil {
		w.refuse(http.StatusInternalServerError, hearken.Errorf("", "This connection was not accepted by the hub."))
		return
	}
	if no := rt.checkOrigin(w, r, p); no != nil {
		rt.reportRefusal(r, p, no)
		w.refuse(no.status, no.err)
		return
	}
	if r.Method == http.MethodOptions && (isPreflight(r) || !a.fromOtherUser(p)) {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	caller, key, no := rt.identify(w, r, p)
	if no != nil && no.nothingShown && rt.access.lateTicket && isUpgrade(r) && rt.serveLate(w, r, p) {
		return
	}
	if no != nil {
		rt.reportRefusal(r, p, no)
		if rt.access.rejectWebSocket != nil && isUpgrade(r) && no.status == http.StatusUnauthorized {
			rt.access.rejectWebSocket(w, r)
			return
		}
		w.refuse(no.status, no.err)
		return
	}
	w.caller = caller
	ctx := withUsedAddress(context.WithValue(r.Context(), callerKey{}, caller), r, p, a.main)
	if key != nil || rt.access.Stream {
		var cancel context.CancelCauseFunc
		ctx, cancel = context.WithCancelCause(ctx)
		defer cancel(nil)
		if key != nil {
			defer a.endWithKey(key, w, cancel)()
		}
		if rt.access.Stream {
			defer context.AfterFunc(a.closing, func() { cancel(errClosing) })()
		}
	}
	rt.next.ServeHTTP(w, r.WithContext(ctx))
}

// endWithKey makes a request end when its key is revoked, until done is called.
func (a *API) endWithKey(key *activeKey, w *response, cancel context.CancelCauseFunc) (done func()) {
	a.keys.running.Add(1)
	stop := context.AfterFunc(key.revoked, func() {
		cancel(errRevoked)
		w.closeHijackedSoon()
	})
	return func() {
		stop()
		a.keys.running.Add(-1)
	}
}

// reportRefusal counts a refused request and calls OnRefused.
func (rt *route) reportRefusal(r *http.Request, p *peer, no *refusal) {
	rt.api.metrics.refused(no.err.Code)
	if rt.api.cfg.OnRefused != nil {
		rt.api.cfg.OnRefused(r.Context(), p.addr.String(), rt.name, no.err.Code)
	}
}

// checkOrigin checks what does not depend on the caller: the host name that the
// request is for, and the page that sent it.
func (rt *route) checkOrigin(w *response, r *http.Request, p *peer) *refusal {
	forbid := func(err *hearken.Error) *refusal { return &refusal{status: http.StatusForbidden, err: err} }
	a := rt.api
	if !a.hosts.allowsHost(r.Host, p.listener) {
		return forbid(hearken.Errorf(hearken.Forbidden, "This hub does not answer to the name %q.", hostname(r.Host)).
			WithTry("http://127.0.0.1, or set PUBLIC_URL to the address that you use"))
	}
	from := r.Header.Get("Origin")
	if len(r.Header["Origin"]) > 1 || !a.hosts.allowsOrigin(from, r.Host, r.TLS != nil) {
		return forbid(hearken.Errorf(hearken.Forbidden, "Pages of another site may not use this hub."))
	}
	site := r.Header.Get("Sec-Fetch-Site")
	linked := rt.access.Linked && isFollowedLink(r)
	if site != "" && site != "same-origin" && site != "none" && !linked && !a.hosts.origins[strings.ToLower(from)] {
		return forbid(hearken.Errorf(hearken.Forbidden, "Pages of another site may not use this hub."))
	}
	if from != "" {
		w.crossOrigin(from, r)
	}
	return nil
}

// isPreflight reports whether a browser asks what a page may send. It never
// sends a key with that question.
func isPreflight(r *http.Request) bool {
	return r.Header.Get("Origin") != "" && r.Header.Get("Access-Control-Request-Method") != ""
}

// isFollowedLink reports whether somebody has followed a link, so that the answer
// becomes a page of its own. The page with the link cannot read it.
func isFollowedLink(r *http.Request) bool {
	return r.Method == http.MethodGet && len(r.Header["Origin"]) == 0 &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// isUpgrade reports whether a request asks for a WebSocket.
func isUpgrade(r *http.Request) bool {
	return len(r.Header["Upgrade"]) > 0 && strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}
