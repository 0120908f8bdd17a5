package api

import (
	"net/netip"
	"sync"
	"time"
)

const (
	loginBurst = 10              // wrong keys in a row
	loginEvery = 6 * time.Second // and then one in so long
	loginAddrs = 4096            // addresses remembered
)

// logins counts wrong keys by address.
type logins struct {
	mu    sync.Mutex
	addrs map[netip.Addr]*bucket
}

type bucket struct {
	left float64
	at   time.Time
}

func newLogins() *logins { return &logins{addrs: map[netip.Addr]*bucket{}} }

// fail notes a wrong key and reports whether the address still had patience.
func (l *logins) fail(addr netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.bucket(addr, time.Now())
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

// patient reports whether an address may still be wrong.
func (l *logins) patient(addr netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.addrs) == 0 {
		return true
	}
	return l.bucket(addr, time.Now()).left >= 1
}

// bucket is called with mu held.
func (l *logins) bucket(addr netip.Addr, now time.Time) *bucket {
	if addr.Is6() {
		// One visitor has a whole /64.
		if p, err := addr.Prefix(64); err == nil {
			addr = p.Addr()
		}
	}
	b := l.addrs[addr]
	if b == nil {
		if len(l.addrs) >= loginAddrs {
			l.sweep(now)
		}
		b = &bucket{left: loginBurst, at: now}
		l.addrs[addr] = b
	}
	b.refill(now)
	return b
}

func (b *bucket) refill(now time.Time) {
	b.left = min(loginBurst, b.left+float64(now.Sub(b.at))/float64(loginEvery))
	b.at = now
}

// sweep forgets who has behaved again, or everybody if that is not enough.
func (l *logins) sweep(now time.Time) {
	for addr, b := range l.addrs {
		if b.refill(now); b.left >= loginBurst {
			delete(l.addrs, addr)
		}
	}
	if len(l.addrs) >= loginAddrs {
		clear(l.addrs)
	}
}
