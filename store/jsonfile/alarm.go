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

// keptAlarm is an alarm with its version.
type keptAlarm struct {
	hearken.Alarm
	Version int `json:"version"`
}

// SaveAlarm implements [hearken.ActionStore].
func (s *Store) SaveAlarm(ctx context.Context, a *hearken.Alarm) (bool, error) {
	if !hearken.ValidActionID(a.Action) {
		return false, noID(a.Action)
	}
	kept := keptAlarm{*a, a.Version + 1}
	kept.Next, kept.Firing, kept.Fired = stored(a.Next), storedPtr(a.Firing), storedPtr(a.Fired)
	saved, err := s.exchange(ctx, alarmsDir, a.Action, a.Version, &kept)
	if err != nil {
		return false, fmt.Errorf("save alarm: %w", err)
	}
	if saved {
		a.Version++
	}
	return saved, nil
}

// Alarms implements [hearken.ActionStore]. An alarm that is being told of has
// its place at that time; one that has no time any more comes last.
func (s *Store) Alarms(ctx context.Context, before time.Time) ([]hearken.Alarm, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var found []hearken.Alarm
	err := records(ctx, s, alarmsDir, func(k *keptAlarm) {
		k.Alarm.Version = k.Version
		if before.IsZero() || k.Firing != nil || !k.Next.IsZero() && k.Next.Before(before) {
			found = append(found, k.Alarm)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("list alarms: %w", err)
	}
	slices.SortFunc(found, func(a, b hearken.Alarm) int {
		return cmp.Or(due(&a).Compare(due(&b)), cmp.Compare(a.Action, b.Action))
	})
	return found, nil
}

// never is later than all times of alarms.
var never = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

func due(a *hearken.Alarm) time.Time {
	switch {
	case a.Firing != nil:
		return *a.Firing
	case a.Next.IsZero():
		return never
	}
	return a.Next
}

// SaveGrant implements [hearken.ActionStore].
func (s *Store) SaveGrant(ctx context.Context, g *hearken.Grant) error {
	kept := *g
	kept.CreatedAt, kept.ExpiresAt, kept.RevokedAt = stored(g.CreatedAt), stored(g.ExpiresAt), storedPtr(g.RevokedAt)
	if err := s.put(ctx, recordFile(grantsDir, hashed(g.ID)), &kept); err != nil {
		return fmt.Errorf("save grant: %w", err)
	}
	return nil
}

// Grants implements [hearken.ActionStore].
func (s *Store) Grants(ctx context.Context) ([]hearken.Grant, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var found []hearken.Grant
	if err := records(ctx, s, grantsDir, func(g *hearken.Grant) { found = append(found, *g) }); err != nil {
		return nil, fmt.Errorf("list grants: %w", err)
	}
	slices.SortFunc(found, func(a, b hearken.Grant) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return found, nil
}

// SaveContact implements [hearken.ActionStore].
func (s *Store) SaveContact(ctx context.Context, c *hearken.Contact) error {
	if err := s.put(ctx, recordFile(contactsDir, hashed(c.ID)), c); err != nil {
		return fmt.Errorf("save contact: %w", err)
	}
	return nil
}

// DeleteContact implements [hearken.ActionStore].
func (s *Store) DeleteContact(ctx context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := ctx.Err()
	if err == nil {
		err = s.root.Remove(recordFile(contactsDir, hashed(id)))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return hearken.Errorf(hearken.NotFound, "There is no contact %s.", id).WithTry("list the contacts")
	}
	if err == nil {
		err = errors.Join(s.removeTorn(contactsDir), s.sync(contactsDir))
	}
	if err != nil {
		return fmt.Errorf("delete contact: %w", err)
	}
	return nil
}

// Contacts implements [hearken.ActionStore]. Capital letters do not matter to
// the order.
func (s *Store) Contacts(ctx context.Context) ([]hearken.Contact, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var found []hearken.Contact
	if err := records(ctx, s, contactsDir, func(c *hearken.Contact) { found = append(found, *c) }); err != nil {
		return nil, fmt.Errorf("list contacts: %w", err)
	}
	slices.SortFunc(found, func(a, b hearken.Contact) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)),
			strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	return found, nil
}

// put writes a record, new or changed.
func (s *Store) put(ctx context.Context, name string, value any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.write(name, value)
}
