package jsonfile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

// auditFile holds where each audit ends.
const auditFile = "audit.json"

func (s *Store) SaveAuditHead(ctx context.Context, h *hearken.AuditHead) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	heads, err := s.auditHeads(ctx)
	if err == nil {
		record := *h
		record.SavedAt = store.RoundTime(h.SavedAt)
		heads = slices.DeleteFunc(heads, func(other hearken.AuditHead) bool { return other.Name == h.Name })
		heads = append(heads, record)
		slices.SortFunc(heads, func(a, b hearken.AuditHead) int { return strings.Compare(a.Name, b.Name) })
		err = s.write(auditFile, heads)
	}
	return store.Wrap(err, "save audit head")
}

func (s *Store) AuditHeads(ctx context.Context) ([]hearken.AuditHead, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	heads, err := s.auditHeads(ctx)
	return heads, store.Wrap(err, "list audit heads")
}

func (s *Store) auditHeads(ctx context.Context) (heads []hearken.AuditHead, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.read(auditFile, &heads); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return heads, nil
}

// ReadAuditHeads reads what [Store.AuditHeads] lists from a folder that this
// process does not have open, and changes nothing in it. A folder that does not
// exist, or whose version knew no heads, has none.
func ReadAuditHeads(ctx context.Context, dir string) ([]hearken.AuditHead, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return (&Store{dir: dir, root: root}).AuditHeads(ctx)
}
