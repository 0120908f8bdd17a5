package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/hearken-dev/hearken"
)

type keysCmd struct {
	Create keysCreateCmd `cmd:"" help:"Create a key. Its secret is shown once; only a hash is stored."`
	List   keysListCmd   `cmd:"" help:"List keys."`
	Revoke keysRevokeCmd `cmd:"" help:"Revoke a key immediately and disconnect its clients."`
}

type keysCreateCmd struct {
	Name     string   `required:"" help:"What the key is for, such as the name of the computer that uses it."`
	Toolsets []string `name:"only" help:"Toolsets that the key may use: transcription, scribe, actions, read. Default: all."`
	Approver string   `default:"owner" enum:"owner,client" help:"Who may approve the key's requests: only you (owner), or also the person at the client (client)."`
	JSON     bool     `help:"Write JSON."`
}

func (c *keysCreateCmd) Run(ctx context.Context, p *program) error {
	req, err := p.asOwner(ctx, controlRequest{Op: "keys.create", Name: c.Name, Toolsets: c.Toolsets, Approver: c.Approver})
	if err != nil {
		return err
	}
	key, err := control[newKey](ctx, p, req)
	if err != nil {
		return err
	}
	if c.JSON {
		return p.writeJSON(key)
	}
	fmt.Fprintln(p.stdout, key.Secret)
	fmt.Fprintf(p.stderr, "Created key %q (%s). Save it now: it is not shown again.\nSend it as:  Authorization: Bearer KEY\n", c.Name, key.ID)
	return nil
}

type keysListCmd struct {
	JSON bool `help:"Write JSON."`
}

func (c *keysListCmd) Run(ctx context.Context, p *program) error {
	keys, err := control[[]hearken.Key](ctx, p, controlRequest{Op: "keys.list"})
	if err != nil {
		return err
	}
	if c.JSON {
		if keys == nil {
			keys = []hearken.Key{}
		}
		return p.writeJSON(keys)
	}
	if len(keys) == 0 {
		fmt.Fprintln(p.stderr, "There are no keys. Try: hearken keys create --name laptop")
		return nil
	}
	t := p.table("ID", "NAME", "MADE", "MAY USE", "STATE")
	for _, k := range keys {
		state := "good"
		if k.RevokedAt != nil {
			state = "revoked " + when(*k.RevokedAt)
		}
		use := "all"
		if len(k.Toolsets) > 0 {
			use = strings.Join(k.Toolsets, ",")
		}
		t.row(k.ID, k.Name, when(k.CreatedAt), use, state)
	}
	return t.flush()
}

type keysRevokeCmd struct {
	Key  string `arg:"" help:"Id or name of the key."`
	JSON bool   `help:"Write JSON."`
}

func (c *keysRevokeCmd) Run(ctx context.Context, p *program) error {
	// To take a permission away is always allowed: no PIN.
	key, err := control[hearken.Key](ctx, p, controlRequest{Op: "keys.revoke", ID: c.Key})
	if err != nil {
		return err
	}
	if c.JSON {
		return p.writeJSON(key)
	}
	fmt.Fprintf(p.stdout, "Revoked %s (%s).\n", key.Name, key.ID)
	return nil
}
