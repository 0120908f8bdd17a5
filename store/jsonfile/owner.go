package jsonfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/hearken-dev/hearken"
)

// SaveOwner implements [hearken.Store].
func (s *Store) SaveOwner(ctx context.Context, o *hearken.StoreOwner) error {
	record := *o
	record.SavedAt = stored(o.SavedAt)
	if err := s.put(ctx, ownerFile, &record); err != nil {
		return fmt.Errorf("save owner: %w", err)
	}
	return nil
}

// Owner implements [hearken.Store].
func (s *Store) Owner(ctx context.Context) (*hearken.StoreOwner, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var o hearken.StoreOwner
	err := s.read(ownerFile, &o)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, hearken.Errorf(hearken.NotFound, "The store has no owner.")
	}
	if err != nil {
		return nil, fmt.Errorf("read owner: %w", err)
	}
	return &o, nil
}

// moveOwner moves the owner out of the keys: version 1 had it as a revoked key
// with the id "owner". The key is removed last, so that this can be repeated
// after a crash.
func (s *Store) moveOwner(ctx context.Context) error {
	keys, err := s.keys(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(keys, func(k keptKey) bool { return k.ID == "owner" })
	if i < 0 {
		return nil
	}
	k := keys[i]
	if err := s.write(ownerFile, &hearken.StoreOwner{DataDir: k.Name, PIN: k.Hash, SavedAt: k.CreatedAt}); err != nil {
		return err
	}
	return s.write(keysFile, slices.Delete(keys, i, i+1))
}
