package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/owner"
	"github.com/hearken-dev/hearken/pipe"
)

// storeCmd is the way out if the store is lost.
type storeCmd struct {
	New storeNewCmd `cmd:"" help:"Start a new store in place of one that is lost. Asks for your PIN."`
}

type storeNewCmd struct{}

// Run needs the owner: the keys and grants of the lost store are gone with it.
func (c *storeNewCmd) Run(ctx context.Context, p *program) error {
	if err := p.proveOwner(); err != nil {
		return err
	}
	app, err := p.open(ctx, Options{Brief: true, NewStore: true})
	if err != nil {
		return err
	}
	err = app.ensureActions(ctx)
	app.record(ctx, hearken.AuditRecord{Type: hearken.AuditOwner, State: "new_store", By: "owner", From: "terminal"})
	if err = errors.Join(err, app.closeInTime()); err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "Started a new store: %s.\nThe keys, grants and contacts of the old one are gone. To let clients in again: hearken keys create\n", p.cfg.storeName())
	return nil
}

// proveOwner asks for the owner's PIN if one is set, while no hub runs.
func (p *program) proveOwner() (err error) {
	lock, err := pipe.Acquire(p.cfg.DataDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	o, err := owner.Open(owner.Config{KeyDir: p.cfg.KeyDir})
	if err != nil || !o.HasPIN() {
		return err
	}
	pin, err := p.pin()
	if err != nil {
		return err
	}
	return o.Check(pin)
}
