package api

import (
	"net/netip"
	"sync"
	"time"
)

const (
	guessBurst = 10              // wrong keys in a row
	guessEvery = 6 * time.Second // then one in this time
	guessAddrs = 4096            // addresses remembered
)

// A guessLimiter limits wrong keys by address.
type guessLimiter struct {
	mu    sync.Mutex
	addrs map[netip.Addr]*bucket
}

type bucket struct {
	left float64
	at   time.Time
}

func newGuessLimiter() *guessLimiter { return &guessLimiter{addrs: map[netip.Addr]*bucket{}} }

// record counts a wrong key and reports whether the address was within its
// limit.
func (l *guessLimiter) record(addr netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.bucket(addr, time.Now())
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

// allowed reports whether an address is within its limit.
func (l *guessLimiter) allowed(addr netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.addrs) == 0 {
		return true
	}
	return l.bucket(addr, time.Now()).left >= 1
}

// bucket is called with mu held.
func (l *guessLimiter) bucket(addr netip.Addr, now time.Time) *bucket {
	if addr.Is6() {
		// One client has a whole /64.
		if p, err := addr.Prefix(64); err == nil {
			addr = p.Addr()
		}
	}
	b := l.addrs[addr]
	if b == nil {
		if len(l.addrs) >= guessAddrs {
			l.removeFull(now)
		}
		b = &bucket{left: guessBurst, at: now}
		l.addrs[addr] = b
	}
	b.refill(now)
	return b
}

func (b *bucket) refill(now time.Time) {
	b.left = min(guessBurst, b.left+float64(now.Sub(b.at))/float64(guessEvery))
	b.at = now
}

// removeFull forgets the addresses whose buckets are full again, or all of them if
// that frees nothing.
func (l *guessLimiter) removeFull(now time.Time) {
	for addr, b := range l.addrs {
		if b.refill(now); b.left >= guessBurst {
			delete(l.addrs, addr)
		}
	}
	if len(l.addrs) >= guessAddrs {
		clear(l.addrs)
	}
}
