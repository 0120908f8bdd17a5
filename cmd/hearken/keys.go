package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	"github.com/hearken-dev/hearken/mcpserver"
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
	key, err := ownerControl[newKey](ctx, p, controlRequest{Op: "keys.create", Name: c.Name, Toolsets: c.Toolsets, Approver: c.Approver})
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
	return writeList(p, c.JSON, keys, "There are no keys. Try: hearken keys create --name laptop",
		[]string{"ID", "NAME", "MADE", "MAY USE", "STATE"}, func(k *hearken.Key) []string {
			state := "good"
			if k.RevokedAt != nil {
				state = "revoked " + localTime(*k.RevokedAt)
			}
			return []string{k.ID, k.Name, localTime(k.CreatedAt), cmp.Or(strings.Join(k.Toolsets, ","), "all"), state}
		})
}

type keysRevokeCmd struct {
	Key  string `arg:"" help:"Id or name of the key."`
	JSON bool   `help:"Write JSON."`
}

// Run needs no PIN: revoking is always allowed.
func (c *keysRevokeCmd) Run(ctx context.Context, p *program) error {
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

// A newKey is a new key with its secret, which is shown only once.
type newKey struct {
	ID     string `json:"id"`
	Secret string `json:"key"`
}

func (a *App) createKey(ctx context.Context, name string, toolsets []string, approver string) (*newKey, error) {
	if strings.TrimSpace(name) == "" {
		return nil, hearken.Errorf(hearken.Invalid, "A key needs a name.").WithTry("hearken keys create --name laptop")
	}
	if err := mcpserver.CheckToolsets(toolsets); err != nil {
		return nil, err
	}
	key, secret := hearken.NewKey(name, a.now(), toolsets)
	switch approver {
	case "", "owner":
	case hearken.ApproverClient:
		key.Approver = approver
	default:
		return nil, hearken.Errorf(hearken.Invalid, "The approver must be owner or client, not %q.", approver)
	}
	if err := a.store.SaveKey(ctx, &key); err != nil {
		return nil, hearken.Errorf(hearken.RepositoryError, "The key could not be stored: %w.", err)
	}
	a.log.Info("key created", "key", key.ID, "name", name)
	a.record(ctx, hearken.AuditRecord{Type: hearken.AuditKey, Principal: key.ID, State: "made", By: "owner", Target: approver})
	return &newKey{ID: key.ID, Secret: secret}, nil
}

// revokeKey revokes a key by its id, or by its name if only one valid key has
// it. HTTP notices when it next reads the store.
func (a *App) revokeKey(ctx context.Context, idOrName string) (*hearken.Key, error) {
	keys, err := a.store.Keys(ctx)
	if err != nil {
		return nil, err
	}
	if idOrName == act.Local && !slices.ContainsFunc(keys, func(k hearken.Key) bool { return k.ID == idOrName }) {
		// The built-in key has a row from the moment it is revoked.
		keys = append(keys, hearken.Key{ID: act.Local, Name: act.Local, CreatedAt: a.now().UTC(), Hash: []byte{}})
	}
	var found []hearken.Key
	for _, k := range keys {
		if k.ID == idOrName || k.Name == idOrName && k.RevokedAt == nil {
			found = append(found, k)
		}
	}
	switch {
	case len(found) == 0:
		return nil, hearken.Errorf(hearken.NotFound, "There is no key %q.", idOrName).WithTry("hearken keys list")
	case len(found) > 1:
		return nil, hearken.Errorf(hearken.Invalid, "%d keys are named %q.", len(found), idOrName).WithTry("the key's id, from hearken keys list")
	}
	key := found[0]
	if key.RevokedAt == nil {
		now := a.now().UTC()
		key.RevokedAt = &now
		if err := a.store.SaveKey(ctx, &key); err != nil {
			return nil, hearken.Errorf(hearken.RepositoryError, "The key could not be revoked: %w.", err)
		}
		a.log.Info("key revoked", "key", key.ID)
		a.record(ctx, hearken.AuditRecord{Type: hearken.AuditKey, Principal: key.ID, State: "revoked", By: "owner"})
	}
	return &key, nil
}
