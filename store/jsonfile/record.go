package jsonfile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"strings"
)

// Folders of records, each a file of its own.
const (
	actionsDir  = "actions"
	alarmsDir   = "alarms"
	grantsDir   = "grants"
	contactsDir = "contacts"
)

// recordFile is where a record lies whose id was checked.
func recordFile(dir, id string) string { return dir + "/" + id + ".json" }

// hashed is an id as a part of a file's name, for ids that come from elsewhere
// and may hold anything.
func hashed(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16])
}

// records gives each record of a folder to f. Those that are damaged are
// passed over and logged. The lock is held.
func records[T any](ctx context.Context, s *Store, dir string, f func(*T)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := fs.ReadDir(s.root.FS(), dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		var value T
		switch err := s.read(dir+"/"+e.Name(), &value); {
		case errors.Is(err, fs.ErrNotExist): // another process has just removed it
		case err != nil:
			s.Log.Warn("record passed over", "folder", dir, "file", e.Name(), "error", err)
		default:
			f(&value)
		}
	}
	return nil
}
