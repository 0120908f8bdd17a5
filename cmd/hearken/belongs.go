package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
)

// ownerRow is the id of the row among the keys of a store that says whose the
// actions in it are: by its name of which data directory, and by its hash of
// which PIN. It is no key.
const ownerRow = "owner"

// markName is the file that tells one data directory from every other.
const markName = "owner.mark"

// belongs finds out whether the actions in the store are this owner's. They
// are strange if they are of this data directory, but of another PIN: somebody
// has removed or exchanged the owner's file by hand. Those of another directory
// are an error: a hub on somebody's database decides nothing in it.
func (a *App) belongs(ctx context.Context) (strange bool, err error) {
	mark, err := a.mark()
	if err != nil {
		return false, err
	}
	keys, err := a.store.Keys(ctx)
	if err != nil {
		return false, err
	}
	i := slices.IndexFunc(keys, func(k hearken.Key) bool { return k.ID == ownerRow })
	switch {
	case a.owner.Damaged() != nil: // nobody can approve until it is whole again
		return false, nil
	case i < 0 && a.owner.Set():
		return true, nil // a PIN from elsewhere allowed nothing here
	case i < 0:
		return false, nil
	case bytes.Equal(keys[i].Hash, a.owner.Fingerprint()) && a.owner.Set():
		if keys[i].Name != mark { // the directory was moved; the owner is the same
			return false, a.keepOwner(ctx, a.owner.Fingerprint())
		}
		return false, nil
	case keys[i].Name != mark:
		return false, hearken.Errorf(hearken.Forbidden, "The actions in %s belong to another data directory than %s.", a.cfg.storeName(), a.cfg.DataDir).
			WithTry("the data directory in which its owner set the PIN, or a database of its own")
	}
	return len(keys[i].Hash) > 0 || a.owner.Set(), nil
}

// mark is the name of this data directory: its place, and what a copy of it in
// that place would have to bring along.
func (a *App) mark() (string, error) {
	dir, err := filepath.EvalSymlinks(a.cfg.DataDir)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, markName)
	raw, err := os.ReadFile(path)
	if err == nil && len(raw) > 0 {
		return strings.TrimSpace(string(raw)) + " " + dir, nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	mark := rand.Text()
	return mark + " " + dir, os.WriteFile(path, []byte(mark+"\n"), 0o600)
}

// keepOwner writes into the store whose its actions are.
func (a *App) keepOwner(ctx context.Context, fingerprint []byte) error {
	mark, err := a.mark()
	if err != nil {
		return err
	}
	if fingerprint == nil {
		fingerprint = []byte{}
	}
	row := hearken.Key{ID: ownerRow, Name: mark, Hash: fingerprint, CreatedAt: a.now().UTC()}
	row.RevokedAt = &row.CreatedAt // nobody comes in with it
	if err := a.store.SaveKey(ctx, &row); err != nil {
		return fmt.Errorf("keep owner: %w", err)
	}
	return nil
}

// realKeys are the keys without the row that is none.
func realKeys(keys []hearken.Key) []hearken.Key {
	return slices.DeleteFunc(keys, func(k hearken.Key) bool { return k.ID == ownerRow })
}
