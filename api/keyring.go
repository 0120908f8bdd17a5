package api

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hearken-dev/hearken"
)

const (
	keysMaxAge  = time.Second     // how long a revoked key may still work
	keysTimeout = 2 * time.Second // how long the store may take to list keys
	keysRetry   = 5 * time.Second // how long a store that failed is left alone
)

// A keyring caches the store's keys for about a second. While requests of
// callers with a key run, it reads the store every second, so that revoking a
// key also ends those requests.
type keyring struct {
	store    Keys
	log      *slog.Logger
	onRevoke func(principal string)
	running  atomic.Int64 // requests of callers with a key

	keys atomic.Pointer[keySet]
	mu   sync.Mutex // held while reading the store
}

// A keySet is the active keys at one time.
type keySet struct {
	keys []*activeKey
	read time.Time
}

// An activeKey is a key that is not revoked.
type activeKey struct {
	caller  hearken.Caller
	hash    [sha256.Size]byte
	revoked context.Context // ends when the key is revoked or changed
	revoke  context.CancelFunc
}

// bySecret returns the key with a secret, or nil if there is none. With reread
// it reads the store before it gives up, and so finds a key that was made a
// moment ago. It fails only if the keys were never readable; later it uses the
// last known ones.
func (k *keyring) bySecret(ctx context.Context, secret string, reread bool) (*activeKey, error) {
	set, err := k.load(ctx, keysMaxAge)
	if err != nil {
		return nil, err
	}
	key := set.bySecret(secret)
	if key == nil && reread {
		if set, err = k.load(ctx, 0); err == nil {
			key = set.bySecret(secret)
		}
	}
	return key, err
}

// byID returns the active key with an id, or nil if there is none.
func (k *keyring) byID(ctx context.Context, id string) (*activeKey, error) {
	set, err := k.load(ctx, keysMaxAge)
	if err != nil {
		return nil, err
	}
	for _, key := range set.keys {
		if key.caller.Principal == id {
			return key, nil
		}
	}
	return nil, nil
}

// bySecret compares with every key and never stops early, so that its duration
// reveals nothing.
func (s *keySet) bySecret(secret string) *activeKey {
	hash := sha256.Sum256([]byte(secret))
	var found *activeKey
	for _, key := range s.keys {
		if subtle.ConstantTimeCompare(hash[:], key.hash[:]) == 1 {
			found = key
		}
	}
	return found
}

// load returns keys that were read at most maxAge ago.
func (k *keyring) load(ctx context.Context, maxAge time.Duration) (*keySet, error) {
	if set := k.keys.Load(); set != nil && time.Since(set.read) < maxAge {
		return set, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	old := k.keys.Load()
	if old != nil && time.Since(old.read) < maxAge {
		return old, nil
	}
	// Not the request's own context: other requests wait for this too.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keysTimeout)
	defer cancel()
	keys, err := k.store.Keys(ctx)
	if err != nil {
		if old == nil {
			return nil, err
		}
		k.log.Warn("cannot read the keys, using the last known ones", "error", err)
		set := &keySet{keys: old.keys, read: time.Now().Add(keysRetry - keysMaxAge)}
		k.keys.Store(set)
		return set, nil
	}
	set := k.merge(old, keys)
	k.keys.Store(set)
	return set, nil
}

// merge takes over the keys that are unchanged and ends the others.
func (k *keyring) merge(old *keySet, keys []hearken.Key) *keySet {
	set := &keySet{read: time.Now()}
	if old == nil {
		old = &keySet{}
	}
	for _, key := range keys {
		if key.RevokedAt != nil || len(key.Hash) != sha256.Size {
			continue
		}
		active := old.find(&key)
		if active == nil {
			active = &activeKey{
				caller: hearken.Caller{Principal: key.ID, Toolsets: slices.Clone(key.Toolsets), Approver: key.Approver},
				hash:   [sha256.Size]byte(key.Hash),
			}
			active.revoked, active.revoke = context.WithCancel(context.Background())
		}
		set.keys = append(set.keys, active)
	}
	for _, key := range old.keys {
		if !slices.Contains(set.keys, key) {
			k.onRevoke(key.caller.Principal)
			key.revoke()
		}
	}
	return set
}

// find returns the active key that equals key in everything that matters here.
func (s *keySet) find(key *hearken.Key) *activeKey {
	for _, active := range s.keys {
		if active.caller.Principal == key.ID && [sha256.Size]byte(key.Hash) == active.hash &&
			slices.Equal(active.caller.Toolsets, key.Toolsets) && active.caller.Approver == key.Approver {
			return active
		}
	}
	return nil
}

// watch reads the keys every second while requests with a key run, until ctx
// ends.
func (k *keyring) watch(ctx context.Context) {
	tick := time.Tick(keysMaxAge)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
			if k.running.Load() > 0 {
				if _, err := k.load(ctx, keysMaxAge/2); err != nil {
					k.log.Warn("cannot read the keys", "error", err)
				}
			}
		}
	}
}
