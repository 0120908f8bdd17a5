package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"runtime/debug"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	"github.com/hearken-dev/hearken/pipe"
)

// A controlRequest is a request of the owner's commands to the hub: one JSON line
// on the local socket. No tool and no HTTP route offers it.
type controlRequest struct {
	Op       string   `json:"op"`
	Name     string   `json:"name,omitempty"`
	ID       string   `json:"id,omitempty"`
	Toolsets []string `json:"toolsets,omitempty"`

	Scribe *scribeCall `json:"scribe,omitempty"`

	// PIN is set in requests that only the owner may make.
	PIN      string                `json:"pin,omitempty"`
	NewPIN   string                `json:"newPin,omitempty"`
	Approver string                `json:"approver,omitempty"`
	Verdict  *act.DecisionRequest  `json:"verdict,omitempty"`
	Actions  *hearken.ActionFilter `json:"actions,omitempty"`
	Grant    *hearken.Grant        `json:"grant,omitempty"`
	Contacts []hearken.Contact     `json:"contacts,omitempty"`
}

type controlResult struct {
	Result json.RawMessage `json:"result,omitempty"`
	Error  *hearken.Error  `json:"error,omitempty"`
}

// maxControlBytes is the longest request: a contact book.
const maxControlBytes = 64 << 20

// serveControl answers control requests until the connection ends.
func (a *App) serveControl(ctx context.Context, conn net.Conn) {
	in := bufio.NewScanner(conn)
	in.Buffer(nil, maxControlBytes)
	out := json.NewEncoder(conn)
	for in.Scan() {
		var req controlRequest
		var res controlResult
		result, err := any(nil), json.Unmarshal(in.Bytes(), &req)
		if err == nil {
			result, err = a.recoverControl(ctx, req)
		}
		if err == nil {
			res.Result, err = json.Marshal(result)
			a.countControl(req, res.Result)
		}
		if err != nil {
			res.Error = pipe.SendableError(err)
		}
		if out.Encode(res) != nil {
			return
		}
	}
	if errors.Is(in.Err(), bufio.ErrTooLong) {
		_ = out.Encode(controlResult{Error: pipe.SendableError(hearken.Errorf(hearken.Invalid, "The request is longer than %d MB.", maxControlBytes>>20))})
	}
}

// recoverControl handles a request. If that panics, only the request fails, not
// the hub with all its sessions.
func (a *App) recoverControl(ctx context.Context, req controlRequest) (result any, err error) {
	defer func() {
		if v := recover(); v != nil {
			a.log.Error("request panicked", "op", req.Op, "type", fmt.Sprintf("%T", v), "stack", string(debug.Stack()))
			err = hearken.Errorf("internal", "Something went wrong inside the hub. Its log says what.")
		}
	}()
	return a.handleControl(ctx, req)
}

// handleControl handles a request.
func (a *App) handleControl(ctx context.Context, req controlRequest) (any, error) {
	switch req.Op {
	case "yield":
		if a.handOver == nil {
			return nil, hearken.Errorf(hearken.Forbidden, "A person started this hub, so it does not give way.")
		}
		a.handOver()
		return struct{}{}, nil
	case "scribe":
		return handleScribe(ctx, a.hub, a.scribe, req.Scribe)
	case "keys.list":
		return a.store.Keys(ctx)
	}
	if handle, known := ownerOps[req.Op]; known {
		if err := a.checkOwner(ctx, req); err != nil {
			return nil, err
		}
		return handle(a, ctx, req)
	}
	return nil, hearken.Errorf(hearken.Invalid, "The running hub does not know the request %q.", req.Op).
		WithTry("restart the hub with the same version as this command")
}
