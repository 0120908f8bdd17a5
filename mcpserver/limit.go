package mcpserver

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/hearken-dev/hearken"
)

const (
	defaultLimit = 100
	limitWindow  = time.Minute
)

// A limiter lets each key make so many requests in any minute, over all its
// connections. It remembers the time of each request, because cheaper ways of
// counting let twice as many through around the turn of a minute.
type limiter struct {
	limit     int
	onLimited func(principal string) // called at most once a minute per key; may be nil
	start     time.Time

	mu    sync.Mutex
	byKey map[string]*ring
}

// A ring holds the times of a key's last allowed requests, since start.
type ring struct {
	at       []time.Duration
	next     int           // the oldest, once the ring is full
	reported time.Duration // when onLimited was last called
}

func newLimiter(limit int, onLimited func(principal string)) *limiter {
	if limit == 0 {
		limit = defaultLimit
	}
	return &limiter{limit: limit, onLimited: onLimited, start: time.Now(), byKey: map[string]*ring{}}
}

// allow counts a request, or says how long to wait before it. A request that is
// refused does not count.
func (l *limiter) allow(principal string) (wait time.Duration, ok bool) {
	if l.limit < 0 {
		return 0, true
	}
	l.mu.Lock()
	now := time.Since(l.start) // within the lock, so that a ring is in order
	r := l.byKey[principal]
	if r == nil {
		r = &ring{reported: -limitWindow}
		l.byKey[principal] = r
	}
	wait = r.add(now, l.limit)
	report := wait > 0 && now-r.reported >= limitWindow
	if report {
		r.reported = now
	}
	l.mu.Unlock()
	if report && l.onLimited != nil {
		l.onLimited(principal)
	}
	return wait, wait == 0
}

// add adds a request, or says how long to wait before it.
func (r *ring) add(now time.Duration, limit int) (wait time.Duration) {
	if len(r.at) < limit {
		r.at = append(r.at, now)
		return 0
	}
	// A minute later to the nanosecond is still within that minute.
	if wait := r.at[r.next] + limitWindow + 1 - now; wait > 0 {
		return wait
	}
	r.at[r.next] = now
	r.next = (r.next + 1) % limit
	return 0
}

// limitError is the error of a request that exceeds the limit.
func (l *limiter) limitError(wait time.Duration) *jsonrpc.Error {
	data, err := json.Marshal(struct {
		RetryAfterMS int64 `json:"retry_after_ms"`
		Limit        int   `json:"limit"`
		WindowS      int   `json:"window_s"`
	}{int64((wait + time.Millisecond - 1) / time.Millisecond), l.limit, int(limitWindow / time.Second)})
	if err != nil {
		return internalError()
	}
	return &jsonrpc.Error{Code: hearken.RateLimited.RPC(), Message: "Rate limit exceeded", Data: data}
}
