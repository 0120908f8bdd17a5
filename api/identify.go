package api

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/hearken-dev/hearken"
)

// Loopback is the principal of this user's processes that come over loopback
// without a key.
const Loopback = "loopback"

type callerKey struct{}

var loopbackCaller = &hearken.Caller{Principal: Loopback}

// CallerFrom returns the caller that the guard let in. It is nil on routes that
// are open to everybody, and outside the guard.
func CallerFrom(ctx context.Context) *hearken.Caller {
	c, _ := ctx.Value(callerKey{}).(*hearken.Caller)
	return c
}

// A refusal is why a request is not let in.
type refusal struct {
	status       int
	err          *hearken.Error
	nothingShown bool // the request has neither a key nor a ticket
}

// identify finds out who the caller is, and which key the caller showed, if any.
// It always checks a key that is shown and refuses a wrong one even where none
// is needed, so that a mistake is noticed.
func (rt *route) identify(w *response, r *http.Request, p *peer) (*hearken.Caller, *activeKey, *refusal) {
	a := rt.api
	if rt.access.Open && !a.fromOtherUser(p) {
		return nil, nil, nil
	}
	secret, shown := extractSecret(w, r)
	if shown && rt.access.AnyKey && !strings.HasPrefix(secret, hearken.KeyPrefix) && a.needsNoKey(r, p) {
		shown = false // a key of another service, which is ignored
	}
	if shown {
		key, err := a.keys.bySecret(r.Context(), secret, a.guesses.allowed(p.addr))
		if err != nil {
			a.log.Warn("cannot read the keys", "error", err)
			return nil, nil, &refusal{status: http.StatusServiceUnavailable, err: hearken.Errorf(hearken.Busy, "The hub cannot read its keys now.").WithTry("again in a moment")}
		}
		if key == nil {
			return nil, nil, a.rejectKey(w, p)
		}
		return &key.caller, key, nil
	}
	if ticket := rt.ticket(r); ticket != "" && rt.access.wsTicket {
		principal, ok := a.tickets.redeem(ticket)
		if !ok {
			return nil, nil, a.rejectKey(w, p)
		}
		key, err := a.keys.byID(r.Context(), principal)
		if err != nil || key == nil {
			return nil, nil, a.rejectKey(w, p)
		}
		return &key.caller, key, nil
	} else if ticket != "" {
		return a.identifyByTicket(w, r, p, ticket)
	}
	if a.fromOtherUser(p) {
		return nil, nil, &refusal{status: http.StatusForbidden, err: hearken.Errorf(hearken.Forbidden, "This hub belongs to another user of this computer, and this request has no key.").
			WithTry("a key that its owner makes with: hearken keys create; or a hub of your own: hearken serve --port 0")}
	}
	if !rt.access.Key && a.needsNoKey(r, p) {
		return loopbackCaller, nil, nil
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="hearken"`)
	return nil, nil, &refusal{status: http.StatusUnauthorized, nothingShown: true, err: hearken.Errorf(hearken.Unauthorized, "Invalid API key").
		WithTry("hearken keys create, and send the key as: Authorization: Bearer KEY")}
}

// identifyByTicket checks the ticket of a session. A ticket is valid as long as
// the key that started its session.
func (a *API) identifyByTicket(w *response, r *http.Request, p *peer, ticket string) (*hearken.Caller, *activeKey, *refusal) {
	principal, ok := "", false
	if a.cfg.CheckTicket != nil {
		principal, ok = a.cfg.CheckTicket(r.PathValue("sessionId"), ticket)
	}
	if !ok {
		no := a.rejectKey(w, p)
		if no.err.Code == hearken.Unauthorized {
			no.err = hearken.Errorf(hearken.Unauthorized, "The ticket is not valid for this session, which may have stopped long ago.").
				WithTry("start_transcription, for a new session with a new address")
		}
		return nil, nil, no
	}
	sender := &hearken.Caller{Principal: principal}
	if !hearken.IsKeyID(principal) {
		return sender, nil, nil
	}
	key, err := a.keys.byID(r.Context(), principal)
	if err != nil || key == nil {
		return nil, nil, a.rejectKey(w, p)
	}
	return sender, key, nil
}

// fromOtherUser reports whether a request comes from another user of this
// computer, who needs a key on every route. Behind a proxy the peer is the
// proxy, whoever runs it.
func (a *API) fromOtherUser(p *peer) bool {
	return !a.hosts.behindPublicProxy() && errors.Is(p.checkOwner(a), errOtherUser)
}

// needsNoKey reports whether a request needs no key: it comes from this user's own
// process on this computer, which is not a proxy for somebody else.
func (a *API) needsNoKey(r *http.Request, p *peer) bool {
	return !a.cfg.AuthRequired && p.listener.loopback && p.loopback && p.checkOwner(a) == nil &&
		!a.hosts.behindPublicProxy() && !isForwarded(r.Header)
}

// rejectKey refuses a wrong key or ticket. Nobody can guess 256 bits; the limit
// is for the noise that an address makes. A valid key is let in whatever others
// at its address do.
func (a *API) rejectKey(w *response, p *peer) *refusal {
	if !a.guesses.record(p.addr) {
		w.Header().Set("Retry-After", "60")
		return &refusal{status: http.StatusTooManyRequests, err: hearken.Errorf(hearken.Busy, "Too many wrong keys from this address.").WithTry("again in a minute")}
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="hearken", error="invalid_token"`)
	return &refusal{status: http.StatusUnauthorized, err: hearken.Errorf(hearken.Unauthorized, "Invalid API key").WithTry("hearken keys list")}
}

// isScheme reports whether a key follows this word: "bearer", or "token" from
// Deepgram's clients.
func isScheme(word string) bool {
	return strings.EqualFold(word, "bearer") || strings.EqualFold(word, "token")
}

// extractSecret finds the key that a request shows: as a bearer token, or as the
// subprotocol after "bearer" from browsers, which cannot set headers on a
// WebSocket. It removes the latter, so that no handler sees or echoes it.
func extractSecret(w *response, r *http.Request) (string, bool) {
	if auth := r.Header["Authorization"]; len(auth) > 0 {
		scheme, secret, _ := strings.Cut(auth[0], " ")
		if len(auth) > 1 || !isScheme(scheme) {
			return "", true
		}
		return strings.TrimSpace(secret), true
	}
	if len(r.Header["Sec-Websocket-Protocol"]) == 0 || !isUpgrade(r) {
		return "", false
	}
	var rest []string
	var scheme, secret string
	offered := strings.Split(strings.Join(r.Header["Sec-Websocket-Protocol"], ","), ",")
	for i := 0; i < len(offered); i++ {
		token := strings.TrimSpace(offered[i])
		if scheme == "" && isScheme(token) {
			scheme = token
			if i++; i < len(offered) {
				secret = strings.TrimSpace(offered[i])
			}
			continue
		}
		rest = append(rest, token)
	}
	if scheme == "" {
		return "", false
	}
	r.Header.Del("Sec-WebSocket-Protocol")
	if len(rest) > 0 {
		r.Header.Set("Sec-WebSocket-Protocol", strings.Join(rest, ", "))
	}
	// Browsers expect one of their subprotocols in the answer; a handler that
	// speaks another of those offered replaces this one.
	w.Header().Set("Sec-WebSocket-Protocol", scheme)
	return secret, true
}

// ticket removes the ticket from the URL and returns it, so that handlers
// neither see nor log it.
func (rt *route) ticket(r *http.Request) string {
	if !rt.access.Ticket && !rt.access.wsTicket || !strings.Contains(r.URL.RawQuery, "ticket") {
		return ""
	}
	q := r.URL.Query()
	ticket := q.Get("ticket")
	q.Del("ticket")
	u := *r.URL
	u.RawQuery = q.Encode()
	r.URL = &u
	r.RequestURI = (&url.URL{Path: u.Path, RawQuery: u.RawQuery}).RequestURI()
	return ticket
}
