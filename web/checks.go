package web

import (
	"context"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/hearken-dev/hearken"
)

// tokenHeader carries the token of the page's memory.
const tokenHeader = "X-Hearken-Token"

var errSignedOut = hearken.Errorf(hearken.Unauthorized, "You are not signed in.")

type sessionKey struct{}

// who is the session that a request was let in with.
func who(ctx context.Context) *session { return ctx.Value(sessionKey{}).(*session) }

// seen lets in who is signed in, to look.
func (h *Handler) seen(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := h.sessions.of(r)
		if s == nil {
			refuse(w, errSignedOut)
			return
		}
		next(w, r.WithContext(context.WithValue(r.Context(), sessionKey{}, s)))
	})
}

// signed lets in who is signed in and holds the token, to change something.
func (h *Handler) signed(next http.HandlerFunc) http.Handler {
	return h.samePage(h.seen(func(w http.ResponseWriter, r *http.Request) {
		token := r.Header.Get(tokenHeader)
		if subtle.ConstantTimeCompare([]byte(token), []byte(who(r.Context()).token)) != 1 {
			refuse(w, hearken.Errorf(hearken.Forbidden, "This page needs your PIN again."))
			return
		}
		// What a person has said holds, also if the tab is closed at once.
		next(w, r.WithContext(context.WithoutCancel(r.Context())))
	}).ServeHTTP)
}

// samePage lets in what this page's own code sends. The guard before it lets
// pages of other origins use the hub where its owner said so; not here.
func (h *Handler) samePage(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		site := r.Header.Get("Sec-Fetch-Site")
		origins := r.Header["Origin"]
		if (site != "" && site != "same-origin") || len(origins) != 1 || !h.own(origins[0], r) {
			refuse(w, hearken.Errorf(hearken.Forbidden, "Only the page itself may do this."))
			return
		}
		if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); !strings.EqualFold(strings.TrimSpace(kind), "application/json") {
			refuse(w, hearken.Errorf(hearken.Invalid, "The page speaks JSON."))
			return
		}
		next(w, r)
	})
}

// own reports whether an origin is the one that the page was served from.
func (h *Handler) own(origin string, r *http.Request) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return false
	}
	if public, err := url.Parse(h.cfg.PublicURL); err == nil && public.Host != "" && u.Scheme == public.Scheme && strings.EqualFold(u.Host, public.Host) {
		return true
	}
	return strings.EqualFold(u.Host, r.Host) && (u.Scheme == "https") == (r.TLS != nil)
}

// unread lets in who comes by a way that others cannot read along: TLS, or
// within this computer. A PIN is not taken otherwise.
func (h *Handler) unread(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name := r.Host
		if host, _, err := net.SplitHostPort(r.Host); err == nil {
			name = host
		}
		addr, err := netip.ParseAddr(strings.Trim(name, "[]"))
		inside := strings.EqualFold(name, "localhost") || (err == nil && addr.Unmap().IsLoopback())
		if !inside && !h.overTLS(r) {
			refuse(w, hearken.Errorf(hearken.Forbidden, "A PIN is not taken over a connection that others can read.").
				WithTry("https, or this page on the hub's own computer"))
			return
		}
		next(w, r)
	}
}

// overTLS reports whether the browser came by TLS, to the hub or to the proxy
// before it.
func (h *Handler) overTLS(r *http.Request) bool {
	public, err := url.Parse(h.cfg.PublicURL)
	return r.TLS != nil || (err == nil && public.Scheme == "https" && strings.EqualFold(r.Header.Get("Origin"), "https://"+public.Host))
}
