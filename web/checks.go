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

// tokenHeader carries the token that only the page's memory holds.
const tokenHeader = "X-Hearken-Token"

var errSignedOut = hearken.Errorf(hearken.Unauthorized, "You are not signed in.")

type sessionKey struct{}

// sessionFrom returns the session of a request that requireSession let in.
func sessionFrom(ctx context.Context) *session { return ctx.Value(sessionKey{}).(*session) }

// requireSession lets signed-in browsers read.
func (h *Handler) requireSession(next handlerFunc) handlerFunc {
	return func(w http.ResponseWriter, r *http.Request) (any, error) {
		s := h.sessions.find(r)
		if s == nil {
			return nil, errSignedOut
		}
		return next(w, r.WithContext(context.WithValue(r.Context(), sessionKey{}, s)))
	}
}

// requireToken lets signed-in pages that hold the token make changes.
func (h *Handler) requireToken(next handlerFunc) handlerFunc {
	return h.requireSamePage(h.requireSession(func(w http.ResponseWriter, r *http.Request) (any, error) {
		token := r.Header.Get(tokenHeader)
		if subtle.ConstantTimeCompare([]byte(token), []byte(sessionFrom(r.Context()).token)) != 1 {
			return nil, hearken.Errorf(hearken.Forbidden, "This page needs your PIN again.")
		}
		// A decision counts even if the tab is closed at once.
		return next(w, r.WithContext(context.WithoutCancel(r.Context())))
	}))
}

// requireSamePage lets in only what this page's own code sends. The owner may let pages
// of other origins use the hub, but not this page.
func (h *Handler) requireSamePage(next handlerFunc) handlerFunc {
	return func(w http.ResponseWriter, r *http.Request) (any, error) {
		if !h.isSamePage(r) {
			return nil, hearken.Errorf(hearken.Forbidden, "Only the page itself may do this.")
		}
		if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); !strings.EqualFold(strings.TrimSpace(kind), "application/json") {
			return nil, hearken.Errorf(hearken.Invalid, "Content-Type must be application/json.")
		}
		return next(w, r)
	}
}

// isSamePage reports whether a page of the hub's own origin sent a request.
func (h *Handler) isSamePage(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	origins := r.Header["Origin"]
	return (site == "" || site == "same-origin") && len(origins) == 1 && h.isOwnOrigin(origins[0], r)
}

// isOwnOrigin reports whether the page was served from an origin.
func (h *Handler) isOwnOrigin(origin string, r *http.Request) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return false
	}
	if public, err := url.Parse(h.cfg.PublicURL); err == nil && public.Host != "" && u.Scheme == public.Scheme && strings.EqualFold(u.Host, public.Host) {
		return true
	}
	return strings.EqualFold(u.Host, r.Host) && (u.Scheme == "https") == (r.TLS != nil)
}

// requirePrivate accepts a PIN only over connections that others cannot read:
// with TLS, or within this computer.
func (h *Handler) requirePrivate(next handlerFunc) handlerFunc {
	return func(w http.ResponseWriter, r *http.Request) (any, error) {
		name := r.Host
		if host, _, err := net.SplitHostPort(r.Host); err == nil {
			name = host
		}
		addr, err := netip.ParseAddr(strings.Trim(name, "[]"))
		local := strings.EqualFold(name, "localhost") || (err == nil && addr.Unmap().IsLoopback())
		if !local && !h.overTLS(r) {
			return nil, hearken.Errorf(hearken.Forbidden, "Others could read your PIN on this connection.").
				WithTry("https, or open this page on the hub's own computer")
		}
		return next(w, r)
	}
}

// overTLS reports whether the browser uses TLS, to the hub or to a proxy in front
// of it.
func (h *Handler) overTLS(r *http.Request) bool {
	public, err := url.Parse(h.cfg.PublicURL)
	return r.TLS != nil || (err == nil && public.Scheme == "https" && strings.EqualFold(r.Header.Get("Origin"), "https://"+public.Host))
}
