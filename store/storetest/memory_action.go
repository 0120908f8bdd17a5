package storetest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
)

// copied is a value as it comes back from a store that writes JSON, which
// shares nothing with what was saved.
func copied[T any](v *T) (*T, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("copy: %w", err)
	}
	var c T
	return &c, json.Unmarshal(data, &c)
}

func copiedAction(a *hearken.Action) (*hearken.Action, error) {
	c, err := copied(a)
	if err != nil {
		return nil, err
	}
	c.Version, c.IdempotencyKey = a.Version, a.IdempotencyKey
	c.CreatedAt, c.ExpiresAt = kept(c.CreatedAt), kept(c.ExpiresAt)
	c.RunAt, c.EndedAt = keptPtr(c.RunAt), keptPtr(c.EndedAt)
	if c.Decision != nil {
		c.Decision.At = kept(c.Decision.At)
	}
	return c, nil
}

func copiedAlarm(a *hearken.Alarm) *hearken.Alarm {
	c := *a
	c.Next, c.Firing, c.Fired = kept(a.Next), keptPtr(a.Firing), keptPtr(a.Fired)
	return &c
}

func (m *Memory) SaveAction(ctx context.Context, a *hearken.Action) (bool, error) {
	if !hearken.ValidActionID(a.ID) {
		return false, hearken.Errorf(hearken.Invalid, "%q is not the id of an action.", a.ID)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return false, err
	}
	version := 0
	if old := m.actions[a.ID]; old != nil {
		version = old.Version
	}
	if a.Version != version {
		return false, nil
	}
	c, err := copiedAction(a)
	if err != nil {
		return false, err
	}
	a.Version++
	c.Version = a.Version
	m.actions[a.ID] = c
	return true, nil
}

func (m *Memory) Action(ctx context.Context, id string) (*hearken.Action, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a := m.actions[id]
	if a == nil {
		return nil, hearken.Errorf(hearken.NotFound, "There is no action %s.", id)
	}
	return copiedAction(a)
}

func (m *Memory) Actions(ctx context.Context, f hearken.ActionFilter) ([]hearken.Action, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var found []hearken.Action
	for _, a := range m.actions {
		if chosen(&f, a) {
			c, err := copiedAction(a)
			if err != nil {
				return nil, err
			}
			found = append(found, *c)
		}
	}
	slices.SortFunc(found, func(a, b hearken.Action) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	if f.Limit > 0 && len(found) > f.Limit {
		found = found[:f.Limit]
	}
	return found, ctx.Err()
}

// chosen reports whether the filter lets an action through.
func chosen(f *hearken.ActionFilter, a *hearken.Action) bool {
	is := func(want, got string) bool { return want == "" || want == got }
	return (len(f.States) == 0 || slices.Contains(f.States, a.State)) &&
		is(f.Principal, a.Principal) && is(f.Tool, a.Tool) && is(f.Target, a.Target) && is(f.IdempotencyKey, a.IdempotencyKey) &&
		(f.Grant == "" || a.Decision != nil && a.Decision.Grant == f.Grant) &&
		(!f.PendingAudit || a.PendingAudit != "") &&
		within(a.CreatedAt, f.Since, time.Time{})
}

func (m *Memory) ForgetActions(ctx context.Context, before time.Time) (n int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	for id, a := range m.actions {
		alarm := m.alarms[id]
		waits := alarm != nil && (!alarm.Next.IsZero() || alarm.Firing != nil)
		if over := a.OverAt(); a.State.Final() && over != nil && over.Before(before) && !waits {
			delete(m.alarms, id)
			delete(m.actions, id)
			n++
		}
	}
	return n, nil
}

func (m *Memory) SaveAlarm(ctx context.Context, a *hearken.Alarm) (bool, error) {
	if !hearken.ValidActionID(a.Action) {
		return false, hearken.Errorf(hearken.Invalid, "%q is not the id of an action.", a.Action)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return false, err
	}
	version := 0
	if old := m.alarms[a.Action]; old != nil {
		version = old.Version
	}
	if a.Version != version {
		return false, nil
	}
	a.Version++
	m.alarms[a.Action] = copiedAlarm(a)
	return true, nil
}

func (m *Memory) Alarms(ctx context.Context, before time.Time) ([]hearken.Alarm, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var found []hearken.Alarm
	for _, a := range m.alarms {
		if before.IsZero() || a.Firing != nil || !a.Next.IsZero() && a.Next.Before(before) {
			found = append(found, *copiedAlarm(a))
		}
	}
	slices.SortFunc(found, func(a, b hearken.Alarm) int {
		return cmp.Or(due(&a).Compare(due(&b)), cmp.Compare(a.Action, b.Action))
	})
	return found, ctx.Err()
}

// never is later than all times of alarms.
var never = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// due is what an alarm is sorted by: the time that is being told of, or the
// next one. Those that have neither come last.
func due(a *hearken.Alarm) time.Time {
	switch {
	case a.Firing != nil:
		return *a.Firing
	case a.Next.IsZero():
		return never
	}
	return a.Next
}

func (m *Memory) SaveGrant(ctx context.Context, g *hearken.Grant) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	c := *g
	c.CreatedAt, c.ExpiresAt, c.RevokedAt = kept(g.CreatedAt), kept(g.ExpiresAt), keptPtr(g.RevokedAt)
	m.grants[g.ID] = &c
	return nil
}

func (m *Memory) Grants(ctx context.Context) ([]hearken.Grant, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []hearken.Grant
	for _, g := range m.grants {
		c := *g
		c.RevokedAt = keptPtr(g.RevokedAt)
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b hearken.Grant) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return all, ctx.Err()
}

func (m *Memory) SaveContact(ctx context.Context, c *hearken.Contact) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	own, err := copied(c)
	if err == nil {
		m.contacts[c.ID] = own
	}
	return err
}

func (m *Memory) DeleteContact(ctx context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if m.contacts[id] == nil {
		return hearken.Errorf(hearken.NotFound, "There is no contact %s.", id)
	}
	delete(m.contacts, id)
	return nil
}

func (m *Memory) Contacts(ctx context.Context) ([]hearken.Contact, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []hearken.Contact
	for _, c := range m.contacts {
		own, err := copied(c)
		if err != nil {
			return nil, err
		}
		all = append(all, *own)
	}
	slices.SortFunc(all, func(a, b hearken.Contact) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)),
			strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	return all, ctx.Err()
}
