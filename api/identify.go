package api

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/hearken-dev/hearken"
)

// Loopback is the principal of the owner's own processes that come over
// loopback without a key.
const Loopback = "loopback"

// An Identity is who a visitor is.
type Identity struct {
	Principal string   // [Loopback], or the id of a key
	Keyed     bool     // whether a key was shown
	Toolsets  []string // what the key may use; empty is everything
	Approver  string   // who approves what the key asks for; see [hearken.Key]
}

type identityKey struct{}

var loopbackIdentity = &Identity{Principal: Loopback}

// CallerFrom is the visitor that the guard let in; nil on routes that are open to
// everybody, and outside the guard.
func CallerFrom(ctx context.Context) *Identity {
	id, _ := ctx.Value(identityKey{}).(*Identity)
	return id
}

// identify finds out who comes. A key that is shown is always checked: a wrong
// one is turned away even where none is needed, so that a mistake shows.
func (rt *route) identify(w *response, r *http.Request, p *peer) (*Identity, *member, int, *hearken.Error) {
	a := rt.api
	if rt.access.Open {
		return nil, nil, 0, nil
	}
	secret, shown := takeSecret(w, r)
	if shown && rt.access.AnyKey && !strings.HasPrefix(secret, hearken.KeyPrefix) && a.keyless(r, p) {
		shown = false // somebody else's key, which is not looked at
	}
	if shown {
		m, err := a.keys.find(r.Context(), secret, a.logins.patient(p.addr))
		if err != nil {
			a.log.Warn("keys are not readable", "error", err)
			return nil, nil, http.StatusServiceUnavailable, hearken.Errorf(hearken.Busy, "The keys cannot be read now.").WithTry("again in a moment")
		}
		if m == nil {
			status, err := a.wrong(w, p)
			return nil, nil, status, err
		}
		return &m.identity, m, 0, nil
	}
	if ticket := rt.ticket(r); ticket != "" && rt.access.once {
		principal, _ := a.tickets.take(ticket)
		m, err := a.keys.of(r.Context(), principal)
		if err != nil || m == nil {
			status, err := a.wrong(w, p)
			return nil, nil, status, err
		}
		return &m.identity, m, 0, nil
	} else if ticket != "" {
		principal, ok := "", false
		if a.cfg.CheckTicket != nil {
			principal, ok = a.cfg.CheckTicket(r.PathValue("sessionId"), ticket)
		}
		if !ok {
			status, err := a.wrong(w, p)
			if err.Code == hearken.Unauthorized {
				err = hearken.Errorf(hearken.Unauthorized, "The ticket does not open this session; it may have stopped long ago.").
					WithTry("start_transcription, for a new session with a new address")
			}
			return nil, nil, status, err
		}
		if !hearken.IsKeyID(principal) {
			return &Identity{Principal: principal}, nil, 0, nil
		}
		// A ticket is as good as the key that started its session.
		m, err := a.keys.of(r.Context(), principal)
		if err != nil || m == nil {
			status, err := a.wrong(w, p)
			return nil, nil, status, err
		}
		return &Identity{Principal: principal}, m, 0, nil
	}
	if !rt.access.Key && a.keyless(r, p) {
		return loopbackIdentity, nil, 0, nil
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="hearken"`)
	return nil, nil, http.StatusUnauthorized, hearken.Errorf(hearken.Unauthorized, "Invalid API key").
		WithTry("hearken keys create, and send the key as: Authorization: Bearer KEY")
}

// keyless reports whether a visitor is the owner's own process on this
// computer, and not one that relays somebody else.
func (a *API) keyless(r *http.Request, p *peer) bool {
	return !a.cfg.AuthRequired && p.door.loopback && p.loopback && p.own(a) == nil &&
		!a.names.relayed() && !forwarded(r.Header)
}

// wrong answers a key or ticket that is not good. Guessing 256 bits is
// hopeless; what is limited is how much noise an address can make with it. A
// good key is let in whatever others on its address do.
func (a *API) wrong(w *response, p *peer) (int, *hearken.Error) {
	if !a.logins.fail(p.addr) {
		w.Header().Set("Retry-After", "60")
		return http.StatusTooManyRequests, hearken.Errorf(hearken.Busy, "Too many wrong keys from this address.").WithTry("again in a minute")
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="hearken", error="invalid_token"`)
	return http.StatusUnauthorized, hearken.Errorf(hearken.Unauthorized, "Invalid API key").WithTry("hearken keys list")
}

// isScheme reports whether a word announces a key: "bearer", or "token", as
// Deepgram's clients say.
func isScheme(word string) bool {
	return strings.EqualFold(word, "bearer") || strings.EqualFold(word, "token")
}

// takeSecret finds the key that a request shows: as a bearer token, or, from
// browsers, which cannot set headers on a WebSocket, as the subprotocol after
// "bearer". The latter is removed, so that nobody further in sees or echoes
// it.
func takeSecret(w *response, r *http.Request) (string, bool) {
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
	// Browsers want one of their subprotocols back; a handler that speaks
	// another of those offered replaces this one.
	w.Header().Set("Sec-WebSocket-Protocol", scheme)
	return secret, true
}

// ticket takes the ticket out of the URL, so that handlers further in neither
// see nor log it.
func (rt *route) ticket(r *http.Request) string {
	if !rt.access.Ticket && !rt.access.once || !strings.Contains(r.URL.RawQuery, "ticket") {
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
