package act

import (
	"sync"
	"time"
)

// trickleRate is how many a minute a [RefusalThrottle] lets through.
const trickleRate = 30

// RefusalsOmitted is the state of the last refusal in a minute that is written down.
const RefusalsOmitted = "further refusals within this minute are not written down"

// A RefusalThrottle keeps a flood of refusals from filling the audit: it lets so many a
// minute through, and says of the last of them that more may follow.
type RefusalThrottle struct {
	mu    sync.Mutex
	since time.Time
	count int
}

// Pass reports whether to write one more down, and whether it is the last in
// this minute.
func (t *RefusalThrottle) Pass(now time.Time) (pass, last bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if age := now.Sub(t.since); age > time.Minute || age < 0 {
		t.since, t.count = now, 0
	}
	t.count++
	return t.count <= trickleRate, t.count == trickleRate
}
