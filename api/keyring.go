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
	ringAge   = time.Second     // how long a revoked key may go on
	ringStall = 2 * time.Second // how long a store may take to list keys
	ringRetry = 5 * time.Second // how long one that fails is left alone
)

// A keyring is the store's keys, kept for about a second. While somebody who
// showed a key is inside, it is read again every second, so that revoking a
// key also ends what it had open.
type keyring struct {
	store interface {
		Keys(ctx context.Context) ([]hearken.Key, error)
	}
	log      *slog.Logger
	onRevoke func(principal string)
	inside   atomic.Int64

	ring atomic.Pointer[ring]
	mu   sync.Mutex // held while reading the store
}

type ring struct {
	members []*member
	read    time.Time
}

// A member is one good key.
type member struct {
	identity Identity
	hash     [sha256.Size]byte
	revoked  context.Context // ends when the key does
	revoke   context.CancelFunc
}

func newKeyring(store interface {
	Keys(ctx context.Context) ([]hearken.Key, error)
}, log *slog.Logger) *keyring {
	return &keyring{store: store, log: log, onRevoke: func(string) {}}
}

func (k *keyring) enter() { k.inside.Add(1) }
func (k *keyring) leave() { k.inside.Add(-1) }

// find returns whose secret it is, or nil if it is nobody's. A key that was
// made a moment ago is only found if again is set, which reads the store. It
// fails only if the keys were never readable; later the last known ones do.
func (k *keyring) find(ctx context.Context, secret string, again bool) (*member, error) {
	r, err := k.fresh(ctx, ringAge)
	if err != nil {
		return nil, err
	}
	m := r.find(secret)
	if m == nil && again {
		if r, err = k.fresh(ctx, 0); err == nil {
			m = r.find(secret)
		}
	}
	return m, err
}

// of returns the good key with an id, or nil if there is none.
func (k *keyring) of(ctx context.Context, id string) (*member, error) {
	r, err := k.fresh(ctx, ringAge)
	if err != nil {
		return nil, err
	}
	for _, m := range r.members {
		if m.identity.Principal == id {
			return m, nil
		}
	}
	return nil, nil
}

// find compares with every key, all the way, so that time tells nothing.
func (r *ring) find(secret string) *member {
	hash := sha256.Sum256([]byte(secret))
	var found *member
	for _, m := range r.members {
		if subtle.ConstantTimeCompare(hash[:], m.hash[:]) == 1 {
			found = m
		}
	}
	return found
}

// fresh is a ring not older than age.
func (k *keyring) fresh(ctx context.Context, age time.Duration) (*ring, error) {
	if r := k.ring.Load(); r != nil && time.Since(r.read) < age {
		return r, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	old := k.ring.Load()
	if old != nil && time.Since(old.read) < age {
		return old, nil
	}
	// Not the visitor's own context: others wait for this too.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ringStall)
	defer cancel()
	keys, err := k.store.Keys(ctx)
	if err != nil {
		if old == nil {
			return nil, err
		}
		k.log.Warn("keys are not readable, the last known ones stay good", "error", err)
		r := &ring{members: old.members, read: time.Now().Add(ringRetry - ringAge)}
		k.ring.Store(r)
		return r, nil
	}
	r := k.merge(old, keys)
	k.ring.Store(r)
	return r, nil
}

// merge keeps the members that are still good and ends the others.
func (k *keyring) merge(old *ring, keys []hearken.Key) *ring {
	r := &ring{read: time.Now()}
	kept := map[*member]bool{}
	for _, key := range keys {
		if key.RevokedAt != nil || len(key.Hash) != sha256.Size {
			continue
		}
		m := old.member(&key)
		if m == nil {
			m = &member{
				identity: Identity{Principal: key.ID, Keyed: true, Toolsets: slices.Clone(key.Toolsets), Approver: key.Approver},
				hash:     [sha256.Size]byte(key.Hash),
			}
			m.revoked, m.revoke = context.WithCancel(context.Background())
		}
		kept[m] = true
		r.members = append(r.members, m)
	}
	if old != nil {
		for _, m := range old.members {
			if !kept[m] {
				k.onRevoke(m.identity.Principal)
				m.revoke()
			}
		}
	}
	return r
}

// member finds the one that stands for exactly this key.
func (r *ring) member(key *hearken.Key) *member {
	if r == nil {
		return nil
	}
	for _, m := range r.members {
		if m.identity.Principal == key.ID && [sha256.Size]byte(key.Hash) == m.hash &&
			slices.Equal(m.identity.Toolsets, key.Toolsets) && m.identity.Approver == key.Approver {
			return m
		}
	}
	return nil
}

// watch reads the keys every second while somebody is inside, until ctx ends.
func (k *keyring) watch(ctx context.Context) {
	tick := time.NewTicker(ringAge)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if k.inside.Load() > 0 {
				if _, err := k.fresh(ctx, ringAge/2); err != nil {
					k.log.Warn("keys are not readable", "error", err)
				}
			}
		}
	}
}
