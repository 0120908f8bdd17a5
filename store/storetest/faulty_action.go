package storetest

import (
	"context"
	"time"

	"github.com/hearken-dev/hearken"
)

func (f *Faulty) SaveAction(ctx context.Context, a *hearken.Action) (bool, error) {
	own := *a // an answer that is lost does not count the version up
	saved, err := doValue(ctx, f, "SaveAction", func() (bool, error) { return f.store.SaveAction(ctx, &own) })
	if err == nil {
		a.Version = own.Version
	}
	return saved, err
}

func (f *Faulty) Action(ctx context.Context, id string) (*hearken.Action, error) {
	return doValue(ctx, f, "Action", func() (*hearken.Action, error) { return f.store.Action(ctx, id) })
}

func (f *Faulty) Actions(ctx context.Context, af hearken.ActionFilter) ([]hearken.Action, error) {
	return doValue(ctx, f, "Actions", func() ([]hearken.Action, error) { return f.store.Actions(ctx, af) })
}

func (f *Faulty) ForgetActions(ctx context.Context, before time.Time) (int, error) {
	return doValue(ctx, f, "ForgetActions", func() (int, error) { return f.store.ForgetActions(ctx, before) })
}

func (f *Faulty) ForgetInActions(ctx context.Context, session string, change func(*hearken.Action) bool) (int, error) {
	return doValue(ctx, f, "ForgetInActions", func() (int, error) { return f.store.ForgetInActions(ctx, session, change) })
}

func (f *Faulty) SaveAlarm(ctx context.Context, a *hearken.Alarm) (bool, error) {
	own := *a
	saved, err := doValue(ctx, f, "SaveAlarm", func() (bool, error) { return f.store.SaveAlarm(ctx, &own) })
	if err == nil {
		a.Version = own.Version
	}
	return saved, err
}

func (f *Faulty) Alarms(ctx context.Context, before time.Time) ([]hearken.Alarm, error) {
	return doValue(ctx, f, "Alarms", func() ([]hearken.Alarm, error) { return f.store.Alarms(ctx, before) })
}

func (f *Faulty) SaveGrant(ctx context.Context, g *hearken.Grant) error {
	return f.do(ctx, "SaveGrant", func() error { return f.store.SaveGrant(ctx, g) })
}

func (f *Faulty) Grants(ctx context.Context) ([]hearken.Grant, error) {
	return doValue(ctx, f, "Grants", func() ([]hearken.Grant, error) { return f.store.Grants(ctx) })
}

func (f *Faulty) SaveContact(ctx context.Context, c *hearken.Contact) error {
	return f.do(ctx, "SaveContact", func() error { return f.store.SaveContact(ctx, c) })
}

func (f *Faulty) DeleteContact(ctx context.Context, id string) error {
	return f.do(ctx, "DeleteContact", func() error { return f.store.DeleteContact(ctx, id) })
}

func (f *Faulty) Contacts(ctx context.Context) ([]hearken.Contact, error) {
	return doValue(ctx, f, "Contacts", func() ([]hearken.Contact, error) { return f.store.Contacts(ctx) })
}
