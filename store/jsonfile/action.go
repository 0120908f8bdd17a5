package jsonfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

// A storedAction adds what the JSON of an action omits.
type storedAction struct {
	hearken.Action
	Version int    `json:"version"`
	Same    string `json:"same"`
}

func (s *Store) SaveAction(ctx context.Context, a *hearken.Action) (bool, error) {
	if err := store.CheckActionID(a.ID); err != nil {
		return false, err
	}
	saved, err := s.saveVersion(ctx, actionsDir, a.ID, &a.Version, &storedAction{*store.RoundActionTimes(a), a.Version + 1, a.IdempotencyKey})
	return saved, store.Wrap(err, "save action")
}

func (s *Store) Action(ctx context.Context, id string) (*hearken.Action, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !hearken.ValidActionID(id) {
		return nil, store.NoAction(id)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	a, err := s.action(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, store.NoAction(id)
	}
	return a, store.Wrap(err, "read action")
}

// action reads one action. The lock is held.
func (s *Store) action(id string) (*hearken.Action, error) {
	var a storedAction
	if err := s.read(documentPath(actionsDir, id), &a); err != nil {
		return nil, err
	}
	a.Action.Version, a.Action.IdempotencyKey = a.Version, a.Same
	return &a.Action, nil
}

// Actions implements [hearken.ActionStore]. It skips and logs those whose file
// is damaged.
func (s *Store) Actions(ctx context.Context, f hearken.ActionFilter) ([]hearken.Action, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all, err := s.summarizeActions(ctx)
	if err != nil {
		return nil, fmt.Errorf("list actions: %w", err)
	}
	all = store.SelectActions(all, f)
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

// ForgetInActions implements [hearken.ActionStore]. It skips and logs actions
// whose file is damaged.
func (s *Store) ForgetInActions(ctx context.Context, session string, change func(*hearken.Action) bool) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := s.summarizeActions(ctx)
	if err != nil {
		return 0, fmt.Errorf("forget in actions: %w", err)
	}
	for i := range all {
		id := all[i].ID
		if !store.HasEvidenceFrom(&all[i], session) {
			continue
		}
		a, err := s.action(id)
		if errors.Is(err, fs.ErrNotExist) { // another process has just removed it
			continue
		}
		if err == nil && change(a) {
			s.dropSummary(id)
			err = s.write(documentPath(actionsDir, id), &storedAction{*store.RoundActionTimes(a), a.Version + 1, a.IdempotencyKey})
			n++
		}
		if err != nil {
			return n, fmt.Errorf("forget in actions: %w", err)
		}
	}
	return n, store.Wrap(errors.Join(s.removeTemporary(actionsDir), s.sync(actionsDir)), "forget in actions")
}

func (s *Store) ForgetActions(ctx context.Context, before time.Time) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := map[string]bool{} // actions with an alarm to come
	err = readAll(ctx, s, alarmsDir, func(k *storedAlarm) {
		waiting[k.Action] = !k.Next.IsZero() || k.Firing != nil
	})
	if err != nil {
		return 0, fmt.Errorf("forget actions: %w", err)
	}
	all, err := s.summarizeActions(ctx)
	if err != nil {
		return 0, fmt.Errorf("forget actions: %w", err)
	}
	for i := range all {
		id, a := all[i].ID, &all[i]
		if over := a.OverAt(); !a.State.Final() || over == nil || !over.Before(before) || waiting[id] {
			continue
		}
		// The alarm is removed first, so that after a crash the next call finds
		// the action.
		for _, dir := range []string{alarmsDir, actionsDir} {
			if err := s.root.Remove(documentPath(dir, id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return n, fmt.Errorf("forget actions: %w", err)
			}
		}
		n++
	}
	for _, dir := range []string{alarmsDir, actionsDir} {
		if err := errors.Join(s.removeTemporary(dir), s.sync(dir)); err != nil {
			return n, fmt.Errorf("forget actions: %w", err)
		}
	}
	return n, nil
}
