package act

import (
	"sync"
	"time"
)

// refusalsPerMinute is how many refusals a [RefusalThrottle] lets through.
const refusalsPerMinute = 30

// RefusalsOmitted is the state of the last refusal that is recorded in a minute.
const RefusalsOmitted = "further refusals within this minute are not written down"

// A RefusalThrottle keeps a flood of refusals from filling the audit. It lets
// some through each minute and marks the last of them.
type RefusalThrottle struct {
	mu    sync.Mutex
	since time.Time
	count int
}

// Allow reports whether to record one more refusal, and whether it is the last
// in this minute.
func (t *RefusalThrottle) Allow(now time.Time) (allow, last bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if age := now.Sub(t.since); age > time.Minute || age < 0 {
		t.since, t.count = now, 0
	}
	t.count++
	return t.count <= refusalsPerMinute, t.count == refusalsPerMinute
}
