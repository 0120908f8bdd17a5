package live

import (
	"sync"
	"time"
)

const (
	// cacheTTL is how long an answer of the store is used. The hub's own
	// changes show at once, those of another hub on the same database after
	// this long.
	cacheTTL = time.Second
	// cacheSize is how many answers are kept.
	cacheSize = 256
)

// A cache keeps recent answers of the store: many readers ask for the same few
// things, often.
type cache[K comparable, V any] struct {
	now func() time.Time

	mu      sync.Mutex
	answers map[K]answer[V]
	changes int // how often everything was dropped
}

type answer[V any] struct {
	value V
	until time.Time
}

// get returns a cached answer, or asks for one and caches it unless something
// changed meanwhile.
func (c *cache[K, V]) get(key K, ask func() (V, error)) (V, error) {
	c.mu.Lock()
	a, ok := c.answers[key]
	changes := c.changes
	c.mu.Unlock()
	if ok && c.now().Before(a.until) {
		return a.value, nil
	}
	value, err := ask()
	if err != nil {
		return value, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changes == changes {
		if c.answers == nil || len(c.answers) >= cacheSize {
			c.answers = map[K]answer[V]{}
		}
		c.answers[key] = answer[V]{value, c.now().Add(cacheTTL)}
	}
	return value, nil
}

// drop forgets every answer because something was written.
func (c *cache[K, V]) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	clear(c.answers)
}
