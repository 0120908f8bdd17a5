package jsonfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/hearken-dev/hearken"
)

// SaveNote implements [hearken.Store].
func (s *Store) SaveNote(ctx context.Context, n *hearken.Note) error {
	if err := s.there(ctx, n.Session); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := *n
	kept.SavedAt = stored(kept.SavedAt)
	if err := s.write(place(n.Session, noteFile), &kept); err != nil {
		return fmt.Errorf("save note: %w", err)
	}
	return nil
}

// Note implements [hearken.Store].
func (s *Store) Note(ctx context.Context, session string) (*hearken.Note, error) {
	if err := s.there(ctx, session); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	var n hearken.Note
	err := s.read(place(session, noteFile), &n)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, hearken.Errorf(hearken.NotFound, "The session %s has no note.", session)
	}
	if err != nil {
		return nil, fmt.Errorf("read note: %w", err)
	}
	return &n, nil
}

// keptKey is a key with its hash, which is never shown elsewhere.
type keptKey struct {
	hearken.Key
	Hash []byte `json:"hash"`
}

// SaveKey implements [hearken.Store].
func (s *Store) SaveKey(ctx context.Context, k *hearken.Key) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys, err := s.keys(ctx)
	if err != nil {
		return fmt.Errorf("save key: %w", err)
	}
	kept := keptKey{*k, k.Hash}
	kept.CreatedAt, kept.RevokedAt = stored(k.CreatedAt), storedPtr(k.RevokedAt)
	keys = slices.DeleteFunc(keys, func(other keptKey) bool { return other.ID == k.ID })
	keys = append(keys, kept)
	slices.SortFunc(keys, func(a, b keptKey) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	if err := s.write(keysFile, keys); err != nil {
		return fmt.Errorf("save key: %w", err)
	}
	return nil
}

// Keys implements [hearken.Store].
func (s *Store) Keys(ctx context.Context) ([]hearken.Key, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	kept, err := s.keys(ctx)
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	keys := make([]hearken.Key, len(kept))
	for i, k := range kept {
		keys[i] = k.Key
		keys[i].Hash = k.Hash
	}
	return keys, nil
}

func (s *Store) keys(ctx context.Context) (keys []keptKey, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.read(keysFile, &keys); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return keys, nil
}
