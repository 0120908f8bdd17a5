package mcpserver

import (
	"encoding/json"
	"slices"
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
	byKey map[string]*requestTimes
}

// requestTimes says when a key made its requests, counted from the limiter's
// start.
type requestTimes struct {
	allowed  []time.Duration // in the last minute, oldest first
	reported time.Duration   // when onLimited was last called
}

func newLimiter(limit int, onLimited func(principal string)) *limiter {
	if limit == 0 {
		limit = defaultLimit
	}
	return &limiter{limit: limit, onLimited: onLimited, start: time.Now(), byKey: map[string]*requestTimes{}}
}

// waitTime counts a request, or says how long to wait before it. A request that
// is refused does not count.
func (l *limiter) waitTime(principal string) time.Duration {
	if l.limit < 0 {
		return 0
	}
	l.mu.Lock()
	now := time.Since(l.start) // within the lock, so that the times are in order
	r := l.byKey[principal]
	if r == nil {
		r = &requestTimes{reported: -limitWindow}
		l.byKey[principal] = r
	}
	wait := r.add(now, l.limit)
	report := wait > 0 && now-r.reported >= limitWindow
	if report {
		r.reported = now
	}
	l.mu.Unlock()
	if report && l.onLimited != nil {
		l.onLimited(principal)
	}
	return wait
}

// add adds a request, or says how long to wait before it.
func (r *requestTimes) add(now time.Duration, limit int) (wait time.Duration) {
	// A minute later to the nanosecond is still within that minute.
	r.allowed = slices.DeleteFunc(r.allowed, func(at time.Duration) bool { return now-at > limitWindow })
	if len(r.allowed) >= limit {
		return r.allowed[0] + limitWindow + 1 - now
	}
	r.allowed = append(r.allowed, now)
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
