package api

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hearken-dev/hearken"
)

// sessions tracks the MCP sessions of the SDK's handler: who owns each, so that
// nobody else uses it, and how long it has been idle, so that there are never
// too many.
type sessions struct {
	api     *API
	handler http.Handler // the SDK's

	mu   sync.RWMutex
	byID map[string]*session
	free int // sessions that may still begin
}

type session struct {
	id     string
	caller *hearken.Caller // as the guard let it in; another pointer after its key changed
	busy   atomic.Int64    // running requests and streams
	used   atomic.Int64    // when the last one ended, in Unix nanoseconds
}

// serve passes a request to its session. For other callers, and after a change of
// the caller's key, the session does not exist.
func (s *sessions) serve(w *response, r *http.Request) {
	id := r.Header.Get(headerSession)
	s.mu.RLock()
	sess := s.byID[id]
	s.mu.RUnlock()
	if sess == nil || sess.caller != CallerFrom(r.Context()) {
		rid, _ := messageID(w.rpc.body)
		w.writeRPC(http.StatusNotFound, rid, http.StatusNotFound, "There is no such MCP session. It may have ended because it was idle.", "initialize again")
		return
	}
	sess.busy.Add(1)
	s.handler.ServeHTTP(w, r)
	if errors.Is(context.Cause(r.Context()), errRevoked) {
		answerRevoked(w)
	}
	sess.used.Store(time.Now().UnixNano())
	sess.busy.Add(-1)
	if w.status == http.StatusNotFound || (r.Method == http.MethodDelete && w.status < 300) {
		s.remove(sess)
	}
}

// answerRevoked answers a call whose key was revoked meanwhile. The SDK ends the answer
// without an error, and often has begun it.
func answerRevoked(w *response) {
	id, _ := messageID(w.rpc.body)
	switch {
	case id == nil:
	case w.status == 0:
		w.rpc.status = 0
		w.writeRPC(http.StatusUnauthorized, id, http.StatusUnauthorized, "Invalid API key", "")
	case w.Header().Get("Content-Type") == "text/event-stream":
		fmt.Fprintf(w, "event: message\ndata: %s\n\n", rpcError(id, http.StatusUnauthorized, "Invalid API key", ""))
	}
}

// begin lets the SDK start a session and records who owns it.
func (s *sessions) begin(w *response, r *http.Request) {
	if !s.reserve(w) {
		return
	}
	sess := &session{caller: CallerFrom(r.Context())}
	sess.busy.Add(1)
	// The client may use the session as soon as it has the header, which is
	// before the handler returns.
	w.onHeader = func() {
		if sess.id = w.Header().Get(headerSession); sess.id != "" {
			s.mu.Lock()
			s.byID[sess.id] = sess
			s.mu.Unlock()
			s.api.metrics.sessions.Inc()
		}
	}
	s.handler.ServeHTTP(w, r)
	sess.used.Store(time.Now().UnixNano())
	sess.busy.Add(-1)
	revoked := errors.Is(context.Cause(r.Context()), errRevoked)
	if revoked {
		answerRevoked(w)
	}
	switch {
	case sess.id == "":
		s.release()
	case revoked:
		s.end(sess)
	}
}

// release undoes reserve.
func (s *sessions) release() {
	s.mu.Lock()
	s.free++
	s.mu.Unlock()
}

// reserve reserves one session. If there are too many it ends the one that has
// been idle the longest, and if all are busy it refuses the request.
func (s *sessions) reserve(w *response) bool {
	for {
		s.mu.Lock()
		if s.free > 0 {
			s.free--
			s.mu.Unlock()
			return true
		}
		var oldest *session
		for _, sess := range s.byID {
			if sess.busy.Load() == 0 && (oldest == nil || sess.used.Load() < oldest.used.Load()) {
				oldest = sess
			}
		}
		s.mu.Unlock()
		if oldest == nil {
			w.Header().Set("Retry-After", "10")
			w.refuse(http.StatusServiceUnavailable, hearken.Errorf(hearken.Busy, "There are too many MCP sessions.").WithTry("again in a moment"))
			return false
		}
		s.end(oldest)
	}
}

func (s *sessions) remove(sess *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID[sess.id] == sess {
		delete(s.byID, sess.id)
		s.free++
		s.api.metrics.sessions.Dec()
	}
}

// end ends a session with the request that its client would send: the SDK has
// no other way.
func (s *sessions) end(sess *session) {
	s.remove(sess)
	r, err := http.NewRequest(http.MethodDelete, "/mcp", nil)
	if err != nil {
		return
	}
	r.Header.Set(headerSession, sess.id)
	s.handler.ServeHTTP(discard{}, r)
}

// watch ends sessions that have been idle for too long, until ctx ends.
func (s *sessions) watch(ctx context.Context) {
	tick := time.Tick(max(s.api.limits.SessionIdle/10, time.Millisecond))
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
			before := time.Now().Add(-s.api.limits.SessionIdle).UnixNano()
			s.endMatching(func(sess *session) bool { return sess.busy.Load() == 0 && sess.used.Load() < before })
		}
	}
}

// endAllOf ends the sessions of a principal whose key was revoked.
func (s *sessions) endAllOf(principal string) {
	s.endMatching(func(sess *session) bool { return sess.caller.Principal == principal })
}

// endMatching ends the sessions that match. It waits for the busy ones.
func (s *sessions) endMatching(match func(*session) bool) {
	var ending sync.WaitGroup
	for _, sess := range s.all() {
		if match(sess) {
			ending.Go(func() { s.end(sess) })
		}
	}
	ending.Wait()
}

func (s *sessions) all() []*session {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Collect(maps.Values(s.byID))
}

// discard drops the answer to a request of our own.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}
