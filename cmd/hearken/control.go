package main

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"strings"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/mcpserver"
	"github.com/hearken-dev/hearken/pipe"
)

// A controlRequest is what the owner's commands ask the hub for, one JSON line
// for each, over the local socket. No tool and no HTTP route offers it.
type controlRequest struct {
	Op       string   `json:"op"`
	Name     string   `json:"name,omitempty"`
	ID       string   `json:"id,omitempty"`
	Toolsets []string `json:"toolsets,omitempty"`

	Scribe *scribeCall `json:"scribe,omitempty"`
}

type controlResult struct {
	Result json.RawMessage `json:"result,omitempty"`
	Error  *pipe.Refusal   `json:"error,omitempty"`
}

// serveControl answers control requests until the connection ends.
func (a *App) serveControl(ctx context.Context, conn net.Conn) {
	in := bufio.NewScanner(conn)
	out := json.NewEncoder(conn)
	for in.Scan() {
		var req controlRequest
		var res controlResult
		result, err := any(nil), json.Unmarshal(in.Bytes(), &req)
		if err == nil {
			result, err = a.control(ctx, req)
		}
		if err == nil {
			res.Result, err = json.Marshal(result)
		}
		if err != nil {
			res.Error = pipe.Refuse(err)
		}
		if out.Encode(res) != nil {
			return
		}
	}
}

func (a *App) control(ctx context.Context, req controlRequest) (any, error) {
	switch req.Op {
	case "yield":
		if a.yield == nil {
			return nil, hearken.Errorf(hearken.Forbidden, "This hub was started by a person and stays.")
		}
		a.yield()
		return struct{}{}, nil
	case "scribe":
		return serveScribe(ctx, a.hub, a.scribe, req.Scribe)
	case "keys.create":
		return a.createKey(ctx, req.Name, req.Toolsets)
	case "keys.list":
		return a.store.Keys(ctx)
	case "keys.revoke":
		return a.revokeKey(ctx, req.ID)
	}
	return nil, hearken.Errorf(hearken.Invalid, "The hub does not know the request %q.", req.Op).
		WithTry("stop the hub and start it again with the same version as the command")
}

// A newKey is a key with its secret, the only time it is seen.
type newKey struct {
	ID     string `json:"id"`
	Secret string `json:"key"`
}

func (a *App) createKey(ctx context.Context, name string, toolsets []string) (*newKey, error) {
	if strings.TrimSpace(name) == "" {
		return nil, hearken.Errorf(hearken.Invalid, "A key needs a name.").WithTry("hearken keys create --name laptop")
	}
	if err := mcpserver.CheckToolsets(toolsets); err != nil {
		return nil, err
	}
	key, secret := hearken.NewKey(name, a.now(), toolsets)
	if err := a.store.SaveKey(ctx, &key); err != nil {
		return nil, hearken.Errorf(hearken.RepositoryError, "The key could not be kept: %w.", err)
	}
	a.log.Info("key made", "key", key.ID, "name", name)
	return &newKey{ID: key.ID, Secret: secret}, nil
}

// revokeKey ends a key, found by its id or by a name that only one good key
// has. The doors notice at the next look into the store.
func (a *App) revokeKey(ctx context.Context, which string) (*hearken.Key, error) {
	keys, err := a.store.Keys(ctx)
	if err != nil {
		return nil, err
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
		return nil, hearken.Errorf(hearken.Invalid, "%d keys are named %q.", len(found), which).WithTry("its id; see hearken keys list")
	}
	key := found[0]
	if key.RevokedAt == nil {
		now := a.now().UTC()
		key.RevokedAt = &now
		if err := a.store.SaveKey(ctx, &key); err != nil {
			return nil, hearken.Errorf(hearken.RepositoryError, "The key could not be revoked: %w.", err)
		}
		a.log.Info("key revoked", "key", key.ID)
	}
	return &key, nil
}
