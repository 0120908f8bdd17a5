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
	maxSessions = 32 // signed-in browsers; the oldest is signed out first
)

// A session is one browser in which the owner typed the PIN.
type session struct {
	key     [32]byte // SHA-256 of the cookie
	cookie  string
	token   string // required for changes; see the package's comment
	expires time.Time
	ended   context.Context
	end     context.CancelFunc
}

// sessions are only in memory: a restart signs everybody out.
type sessions struct {
	now func() time.Time

	mu  sync.Mutex
	all []*session // oldest first
}

// open begins a session.
func (s *sessions) open() *session {
	// rand.Text has at least 128 bits; two have 256.
	n := &session{cookie: rand.Text() + rand.Text(), token: rand.Text() + rand.Text(), expires: s.now().Add(sessionFor)}
	n.key = sha256.Sum256([]byte(n.cookie))
	n.ended, n.end = context.WithCancel(context.Background())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endMatching(s.isExpired)
	if len(s.all) >= maxSessions {
		s.all[0].end()
		s.all = slices.Delete(s.all, 0, 1)
	}
	s.all = append(s.all, n)
	return n
}

// find returns the session of a request; nil if there is none.
func (s *sessions) find(r *http.Request) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endMatching(s.isExpired)
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

func (s *sessions) isExpired(n *session) bool { return !s.now().Before(n.expires) }

// end ends the sessions that match.
func (s *sessions) end(match func(*session) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endMatching(match)
}

// endMatching is end for callers that hold mu.
func (s *sessions) endMatching(match func(*session) bool) {
	s.all = slices.DeleteFunc(s.all, func(n *session) bool {
		ends := match(n)
		if ends {
			n.end()
		}
		return ends
	})
}

// cookieName contains the port. Cookies are shared by all ports of a host, so two
// hubs on one computer would sign each other's owners out.
func cookieName(r *http.Request) string {
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		return "hearken_owner_" + port
	}
	return "hearken_owner"
}

// cookie makes the cookie of a session, which the browser holds until it is
// closed. An empty value removes it. The hub decides how long it is valid.
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
