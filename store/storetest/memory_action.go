package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

// deepCopy copies a value as a store does that writes JSON.
func deepCopy[T any](v *T) (*T, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("copy: %w", err)
	}
	var c T
	return &c, json.Unmarshal(data, &c)
}

func copyAction(a *hearken.Action) (*hearken.Action, error) {
	c, err := deepCopy(store.RoundActionTimes(a))
	if err == nil {
		c.Version, c.IdempotencyKey = a.Version, a.IdempotencyKey
	}
	return c, err
}

func (m *Memory) SaveAction(ctx context.Context, a *hearken.Action) (bool, error) {
	if err := store.CheckActionID(a.ID); err != nil {
		return false, err
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
	c, err := copyAction(a)
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
		return nil, store.NoAction(id)
	}
	return copyAction(a)
}

func (m *Memory) Actions(ctx context.Context, f hearken.ActionFilter) ([]hearken.Action, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []hearken.Action
	for _, a := range m.actions {
		all = append(all, *a)
	}
	selected := store.SelectActions(all, f)
	for i := range selected {
		c, err := copyAction(&selected[i])
		if err != nil {
			return nil, err
		}
		selected[i] = *c
	}
	return selected, ctx.Err()
}

func (m *Memory) ForgetInActions(ctx context.Context, session string, change func(*hearken.Action) bool) (n int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	for id, old := range m.actions {
		if !store.HasEvidenceFrom(old, session) {
			continue
		}
		a, err := copyAction(old)
		if err != nil {
			return n, err
		}
		if change(a) {
			a.Version++
			m.actions[id] = a
			n++
		}
	}
	return n, nil
}

func (m *Memory) ForgetActions(ctx context.Context, before time.Time) (n int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	for id, a := range m.actions {
		alarm := m.alarms[id]
		waiting := alarm != nil && (!alarm.Next.IsZero() || alarm.Firing != nil)
		if over := a.OverAt(); a.State.Final() && over != nil && over.Before(before) && !waiting {
			delete(m.alarms, id)
			delete(m.actions, id)
			n++
		}
	}
	return n, nil
}

func (m *Memory) SaveAlarm(ctx context.Context, a *hearken.Alarm) (bool, error) {
	if err := store.CheckActionID(a.Action); err != nil {
		return false, err
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
	m.alarms[a.Action] = store.RoundAlarmTimes(a)
	return true, nil
}

func (m *Memory) Alarms(ctx context.Context, before time.Time) ([]hearken.Alarm, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []hearken.Alarm
	for _, a := range m.alarms {
		all = append(all, *store.RoundAlarmTimes(a))
	}
	return store.SelectAlarms(all, before), ctx.Err()
}

func (m *Memory) SaveGrant(ctx context.Context, g *hearken.Grant) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	m.grants[g.ID] = store.RoundGrantTimes(g)
	return nil
}

func (m *Memory) Grants(ctx context.Context) ([]hearken.Grant, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []hearken.Grant
	for _, g := range m.grants {
		all = append(all, *store.RoundGrantTimes(g))
	}
	store.SortGrants(all)
	return all, ctx.Err()
}

func (m *Memory) SaveContact(ctx context.Context, c *hearken.Contact) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	own, err := deepCopy(c)
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
		return store.NoContact(id)
	}
	delete(m.contacts, id)
	return nil
}

func (m *Memory) Contacts(ctx context.Context) ([]hearken.Contact, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []hearken.Contact
	for _, c := range m.contacts {
		own, err := deepCopy(c)
		if err != nil {
			return nil, err
		}
		all = append(all, *own)
	}
	store.SortContacts(all)
	return all, ctx.Err()
}
