package main

import (
	"context"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	"github.com/hearken-dev/hearken/mcpserver"
)

// A newKey is a key with its secret, the only time it is seen.
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
	a.noted(ctx, hearken.AuditRecord{Type: hearken.AuditKey, Principal: key.ID, State: "made", By: "owner", Target: approver})
	return &newKey{ID: key.ID, Secret: secret}, nil
}

// revokeKey ends a key, found by its id or by a name that only one good key
// has. The doors notice at the next look into the store.
func (a *App) revokeKey(ctx context.Context, which string) (*hearken.Key, error) {
	keys, err := a.store.Keys(ctx)
	if err != nil {
		return nil, err
	}
	if which == act.Local && !slices.ContainsFunc(keys, func(k hearken.Key) bool { return k.ID == which }) {
		// The built-in key has a row from the moment it is revoked.
		keys = append(keys, hearken.Key{ID: act.Local, Name: act.Local, CreatedAt: a.now().UTC(), Hash: []byte{}})
	}
	var found []hearken.Key
	for _, k := range keys {
		if k.ID == which || k.Name == which && k.RevokedAt == nil {
			found = append(found, k)
		}
	}
	switch {
	case len(found) == 0:
		return nil, hearken.Errorf(hearken.NotFound, "There is no key %q.", which).WithTry("hearken keys list")
	case len(found) > 1:
		return nil, hearken.Errorf(hearken.Invalid, "%d keys are named %q.", len(found), which).WithTry("the key's id, from hearken keys list")
	}
	key := found[0]
	if key.RevokedAt == nil {
		now := a.now().UTC()
		key.RevokedAt = &now
		if err := a.store.SaveKey(ctx, &key); err != nil {
			return nil, hearken.Errorf(hearken.RepositoryError, "The key could not be revoked: %w.", err)
		}
		a.log.Info("key revoked", "key", key.ID)
		a.noted(ctx, hearken.AuditRecord{Type: hearken.AuditKey, Principal: key.ID, State: "revoked", By: "owner"})
	}
	return &key, nil
}
