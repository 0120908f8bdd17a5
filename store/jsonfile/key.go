package jsonfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

// A storedKey adds the hash, which the JSON of a key omits.
type storedKey struct {
	hearken.Key
	Hash []byte `json:"hash"`
}

func (s *Store) SaveKey(ctx context.Context, k *hearken.Key) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys, err := s.keys(ctx)
	if err != nil {
		return fmt.Errorf("save key: %w", err)
	}
	added := storedKey{*k, k.Hash}
	added.CreatedAt, added.RevokedAt = store.RoundTime(k.CreatedAt), store.RoundTimePtr(k.RevokedAt)
	keys = slices.DeleteFunc(keys, func(other storedKey) bool { return other.ID == k.ID })
	keys = append(keys, added)
	slices.SortFunc(keys, func(a, b storedKey) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return store.Wrap(s.write(keysFile, keys), "save key")
}

func (s *Store) Keys(ctx context.Context) ([]hearken.Key, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	list, err := s.keys(ctx)
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	keys := make([]hearken.Key, len(list))
	for i, k := range list {
		keys[i] = k.Key
		keys[i].Hash = k.Hash
	}
	return keys, nil
}

func (s *Store) keys(ctx context.Context) (keys []storedKey, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.read(keysFile, &keys); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return keys, nil
}

func (s *Store) SaveOwner(ctx context.Context, o *hearken.StoreOwner) error {
	record := *o
	record.SavedAt = store.RoundTime(o.SavedAt)
	return store.Wrap(s.save(ctx, ownerFile, &record), "save owner")
}

func (s *Store) Owner(ctx context.Context) (*hearken.StoreOwner, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var o hearken.StoreOwner
	err := s.read(ownerFile, &o)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, store.NoOwner()
	}
	return &o, store.Wrap(err, "read owner")
}

// moveOwner moves the owner out of the keys: version 1 had it as a revoked key
// with the id "owner". The key is removed last, so that this can be repeated
// after a crash.
func (s *Store) moveOwner(ctx context.Context) error {
	keys, err := s.keys(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(keys, func(k storedKey) bool { return k.ID == "owner" })
	if i < 0 {
		return nil
	}
	k := keys[i]
	if err := s.write(ownerFile, &hearken.StoreOwner{DataDir: k.Name, PIN: k.Hash, SavedAt: k.CreatedAt}); err != nil {
		return err
	}
	return s.write(keysFile, slices.Delete(keys, i, i+1))
}

func (s *Store) SaveExposure(ctx context.Context, principal string, at time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, err := s.exposures(ctx)
	if err == nil && found[principal].Before(at) {
		found[principal] = store.RoundTime(at)
		err = s.write(exposureFile, found)
	}
	return store.Wrap(err, "save exposure")
}

func (s *Store) Exposures(ctx context.Context) (map[string]time.Time, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	found, err := s.exposures(ctx)
	return found, store.Wrap(err, "read exposures")
}

func (s *Store) exposures(ctx context.Context) (map[string]time.Time, error) {
	found := map[string]time.Time{}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.read(exposureFile, &found); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return found, nil
}
