package jsonfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
)

// keptAction is an action with what is shown nowhere else.
type keptAction struct {
	hearken.Action
	Version int    `json:"version"`
	Same    string `json:"same"`
}

// SaveAction implements [hearken.ActionStore].
func (s *Store) SaveAction(ctx context.Context, a *hearken.Action) (bool, error) {
	if !hearken.ValidActionID(a.ID) {
		return false, noID(a.ID)
	}
	kept := keptAction{*a, a.Version + 1, a.IdempotencyKey}
	// The times of its arguments stay as they are, to the last digit: they
	// were approved.
	kept.CreatedAt, kept.ExpiresAt = stored(a.CreatedAt), stored(a.ExpiresAt)
	kept.RunAt, kept.EndedAt = storedPtr(a.RunAt), storedPtr(a.EndedAt)
	if a.Decision != nil {
		d := *a.Decision
		d.At = stored(d.At)
		kept.Decision = &d
	}
	saved, err := s.exchange(ctx, actionsDir, a.ID, a.Version, &kept)
	if err != nil {
		return false, fmt.Errorf("save action: %w", err)
	}
	if saved {
		a.Version++
	}
	return saved, nil
}

// exchange writes a record if the one that is there has the version, 0 if
// there is none.
func (s *Store) exchange(ctx context.Context, dir, id string, version int, value any) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return false, err
	}
	name := recordFile(dir, id)
	var now struct{ Version int }
	if err := s.read(name, &now); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if now.Version != version {
		return false, nil
	}
	if dir == actionsDir {
		s.dropSummary(id)
	}
	return true, s.write(name, value)
}

// Action implements [hearken.ActionStore].
func (s *Store) Action(ctx context.Context, id string) (*hearken.Action, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !hearken.ValidActionID(id) {
		return nil, noAction(id)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	a, err := s.action(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noAction(id)
	}
	if err != nil {
		return nil, fmt.Errorf("read action: %w", err)
	}
	return a, nil
}

// action reads one action. The lock is held.
func (s *Store) action(id string) (*hearken.Action, error) {
	var kept keptAction
	if err := s.read(recordFile(actionsDir, id), &kept); err != nil {
		return nil, err
	}
	kept.Action.Version, kept.Action.IdempotencyKey = kept.Version, kept.Same
	return &kept.Action, nil
}

// Actions implements [hearken.ActionStore]. Those whose file is damaged are
// left out and logged.
func (s *Store) Actions(ctx context.Context, f hearken.ActionFilter) ([]hearken.Action, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all, err := s.summaries(ctx)
	if err != nil {
		return nil, fmt.Errorf("list actions: %w", err)
	}
	all = slices.DeleteFunc(all, func(a hearken.Action) bool { return !chosen(&f, &a) })
	slices.SortFunc(all, func(a, b hearken.Action) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	if f.Limit > 0 && len(all) > f.Limit {
		all = all[:f.Limit]
	}
	found := all[:0]
	for i := range all {
		a, err := s.action(all[i].ID)
		if errors.Is(err, fs.ErrNotExist) { // another process has just removed it
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list actions: %w", err)
		}
		found = append(found, *a)
	}
	return found, nil
}

// chosen reports whether the filter lets an action through.
func chosen(f *hearken.ActionFilter, a *hearken.Action) bool {
	is := func(want, got string) bool { return want == "" || want == got }
	return (len(f.States) == 0 || slices.Contains(f.States, a.State)) &&
		is(f.Principal, a.Principal) && is(f.Tool, a.Tool) && is(f.Target, a.Target) && is(f.IdempotencyKey, a.IdempotencyKey) &&
		(f.Grant == "" || a.Decision != nil && a.Decision.Grant == f.Grant) &&
		(!f.PendingAudit || a.PendingAudit != "") &&
		(f.Since.IsZero() || !a.CreatedAt.Before(f.Since))
}

// ForgetActions implements [hearken.ActionStore].
func (s *Store) ForgetActions(ctx context.Context, before time.Time) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	waits := map[string]bool{}
	err = records(ctx, s, alarmsDir, func(k *keptAlarm) {
		waits[k.Action] = !k.Next.IsZero() || k.Firing != nil
	})
	if err != nil {
		return 0, fmt.Errorf("forget actions: %w", err)
	}
	all, err := s.summaries(ctx)
	if err != nil {
		return 0, fmt.Errorf("forget actions: %w", err)
	}
	for i := range all {
		id, a := all[i].ID, &all[i]
		if over := a.OverAt(); !a.State.Final() || over == nil || !over.Before(before) || waits[id] {
			continue
		}
		// The alarm goes first: what is left after a crash is an action that
		// the next call finds.
		for _, dir := range []string{alarmsDir, actionsDir} {
			if err := s.root.Remove(recordFile(dir, id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return n, fmt.Errorf("forget actions: %w", err)
			}
		}
		n++
	}
	for _, dir := range []string{alarmsDir, actionsDir} {
		if err := errors.Join(s.removeTorn(dir), s.sync(dir)); err != nil {
			return n, fmt.Errorf("forget actions: %w", err)
		}
	}
	return n, nil
}

// removeTorn removes what a process left that ended while it wrote. The lock
// is held, so nobody writes now.
func (s *Store) removeTorn(dir string) error {
	entries, err := fs.ReadDir(s.root.FS(), dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".tmp") {
			if err := s.root.Remove(dir + "/" + e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

func noAction(id string) error {
	return hearken.Errorf(hearken.NotFound, "There is no action %s.", id).WithTry("list the actions")
}

func noID(id string) error {
	return hearken.Errorf(hearken.Invalid, "%q is not the id of an action.", id)
}
