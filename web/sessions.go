package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	sessionFor  = 12 * time.Hour
	maxSessions = 32 // of browsers that knew the PIN; the oldest goes first
)

// A session is one browser in which the owner typed the PIN.
type session struct {
	key     [32]byte // SHA-256 of the cookie
	cookie  string
	token   string // what changes must carry; see the package's comment
	expires time.Time
	ended   context.Context
	end     context.CancelFunc
}

// sessions are in memory alone: a restart signs everybody out.
type sessions struct {
	now func() time.Time

	mu  sync.Mutex
	all []*session // oldest first
}

// open begins a session.
func (s *sessions) open() *session {
	// rand.Text has at least 128 bits; two of them are the 256 that are wanted.
	n := &session{cookie: rand.Text() + rand.Text(), token: rand.Text() + rand.Text(), expires: s.now().Add(sessionFor)}
	n.key = sha256.Sum256([]byte(n.cookie))
	n.ended, n.end = context.WithCancel(context.Background())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	if len(s.all) >= maxSessions {
		s.all[0].end()
		s.all = slices.Delete(s.all, 0, 1)
	}
	s.all = append(s.all, n)
	return n
}

// of is the session that a request belongs to; nil if there is none.
func (s *sessions) of(r *http.Request) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	for _, c := range r.CookiesNamed(cookieName(r)) {
		key := sha256.Sum256([]byte(c.Value))
		for _, n := range s.all {
			if subtle.ConstantTimeCompare(n.key[:], key[:]) == 1 {
				return n
			}
		}
	}
	return nil
}

// sweep drops the sessions that are over.
func (s *sessions) sweep() {
	s.all = slices.DeleteFunc(s.all, func(n *session) bool {
		over := !s.now().Before(n.expires)
		if over {
			n.end()
		}
		return over
	})
}

func (s *sessions) close(n *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n.end()
	s.all = slices.DeleteFunc(s.all, func(o *session) bool { return o == n })
}

func (s *sessions) endAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.all {
		n.end()
	}
	s.all = nil
}

// cookieName has the port in it: cookies do not keep ports apart, and two hubs
// on one computer would sign each other's owners out.
func cookieName(r *http.Request) string {
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		return "hearken_owner_" + port
	}
	return "hearken_owner"
}

// cookie is what the browser keeps of a session until it is closed; an empty
// value removes it. How long it works is for the hub to say.
func (h *Handler) cookie(r *http.Request, value string) *http.Cookie {
	c := &http.Cookie{
		Name: cookieName(r), Value: value, Path: "/approvals",
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: h.overTLS(r),
	}
	if value == "" {
		c.MaxAge = -1
	}
	return c
}
