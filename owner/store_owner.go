package owner

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/files"
)

// A Store remembers whose actions it holds; see [hearken.Store].
type Store interface {
	Owner(ctx context.Context) (*hearken.StoreOwner, error)
	SaveOwner(ctx context.Context, o *hearken.StoreOwner) error
}

// dataDirFile holds what distinguishes a data directory from all others.
const dataDirFile = "owner.mark"

// Replaced reports whether the actions in the store were approved under
// another PIN than today's: somebody has removed or exchanged the verifier by
// hand. What was approved must end then, before [Owner.SaveToStore] is called.
//
// Actions that belong to another data directory are an error. A hub on
// somebody else's database decides nothing in it.
func (o *Owner) Replaced(ctx context.Context) (bool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	dataDir, err := o.dataDirID()
	if err != nil {
		return false, err
	}
	record, err := o.cfg.Store.Owner(ctx)
	if err != nil && hearken.CodeOf(err) != hearken.NotFound {
		return false, err
	}
	pin := o.fingerprint()
	switch {
	case o.damaged != nil: // nobody can approve anything until it is repaired
		return false, nil
	case record == nil: // a PIN that the store does not know approved nothing in it
		return pin != nil, nil
	case pin != nil && bytes.Equal(record.PIN, pin):
		if record.DataDir != dataDir { // the directory was moved
			return false, o.saveToStore(ctx, pin)
		}
		return false, nil
	case record.DataDir != dataDir:
		return false, hearken.Errorf(hearken.Forbidden, "The actions in %s belong to another data directory than %s.", o.cfg.StoreName, o.cfg.DataDir).
			WithTry("the data directory in which its owner set the PIN, or a database of its own")
	}
	return len(record.PIN) > 0 || pin != nil, nil
}

// SaveToStore makes the actions in the store this owner's.
func (o *Owner) SaveToStore(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.saveToStore(ctx, o.fingerprint())
}

func (o *Owner) saveToStore(ctx context.Context, pin []byte) error {
	dataDir, err := o.dataDirID()
	if err == nil {
		err = o.cfg.Store.SaveOwner(ctx, &hearken.StoreOwner{DataDir: dataDir, PIN: pin, SavedAt: o.cfg.Now()})
	}
	if err != nil {
		return fmt.Errorf("save the store's owner: %w", err)
	}
	return nil
}

// dataDirID identifies the data directory: by its path, and by a random mark
// in it that another directory at that path would not have.
func (o *Owner) dataDirID() (string, error) {
	dir, err := filepath.EvalSymlinks(o.cfg.DataDir)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, dataDirFile)
	raw, err := os.ReadFile(path)
	if err == nil && len(raw) > 0 {
		return strings.TrimSpace(string(raw)) + " " + dir, nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	mark := rand.Text()
	return mark + " " + dir, files.Replace(path, []byte(mark+"\n"), 0o600)
}
