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
// connections. It remembers when each of them was, because cheaper ways to
// count let twice as many through where two minutes meet.
type limiter struct {
	limit int
	told  func(principal string) // of a key that is refused, at most once a minute
	start time.Time

	mu    sync.Mutex
	byKey map[string]*ring
}

// A ring holds when the last requests were let through, since start.
type ring struct {
	at   []time.Duration
	next int // the oldest, once the ring is full
	told time.Duration
}

func newLimiter(limit int, told func(principal string)) *limiter {
	if limit == 0 {
		limit = defaultLimit
	}
	return &limiter{limit: limit, told: told, start: time.Now(), byKey: map[string]*ring{}}
}

// take counts a request, or says how long to wait with it. One that is refused
// is not counted.
func (l *limiter) take(principal string) (wait time.Duration, ok bool) {
	if l.limit < 0 {
		return 0, true
	}
	l.mu.Lock()
	now := time.Since(l.start) // within the lock, so that a ring is in order
	r := l.byKey[principal]
	if r == nil {
		r = &ring{told: -limitWindow}
		l.byKey[principal] = r
	}
	wait = r.take(now, l.limit)
	tell := wait > 0 && now-r.told >= limitWindow
	if tell {
		r.told = now
	}
	l.mu.Unlock()
	if tell && l.told != nil {
		l.told(principal)
	}
	return wait, wait == 0
}

func (r *ring) take(now time.Duration, limit int) (wait time.Duration) {
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

// limited is the error for a request that is one too many.
func (l *limiter) limited(wait time.Duration) *jsonrpc.Error {
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
