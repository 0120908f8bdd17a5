package mcpserver

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
)

const (
	callTool = "tools/call"
	ping     = "ping"
	// askFor bounds how long an old client may take with a question; the
	// action itself has expired by then.
	askFor = 15 * time.Minute
	// cancelFor bounds how long it may take to cancel for who has left.
	cancelFor = 5 * time.Second
)

// A turn is one request on its way through the server.
type turn struct {
	action string // that the call is about, once it is known
	asked  bool   // whether its client is being asked
	fresh  bool   // whether it brings an answer that was not used before
}

type turnKey struct{}

// turnOf is the turn of a call to a tool of the actions.
func turnOf(ctx context.Context) *turn {
	t, ok := ctx.Value(turnKey{}).(*turn)
	if !ok {
		return &turn{}
	}
	return t
}

// admit counts requests, takes tools of the actions by either name, and lets
// only those act who may.
func (d *desk) admit(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		tool, params := d.actionCalled(method, req)
		turn := &turn{}
		if tool != nil && params.RequestState != "" {
			asked, ok := d.acts.seals.open(params.RequestState)
			if ok && asked.Principal == d.caller.Principal {
				turn.fresh, _ = d.acts.seals.take(asked.Nonce)
			}
		}
		if d.counts(method, tool) && !turn.fresh {
			if wait, ok := d.limiter.take(d.caller.Principal); !ok {
				return nil, d.limiter.limited(wait)
			}
		}
		if tool == nil {
			return next(ctx, method, req)
		}
		if e := d.mayCall(tool); e != nil {
			if d.acts.refused != nil {
				d.acts.refused(ctx, d.caller.Principal, tool.dotted, e.Code)
			}
			res, err := d.notActed(ctx, tool.dotted, "", e)
			if err != nil { // a nil result in a Result would not be nil
				return nil, err
			}
			return res, nil
		}
		params.Name = d.nameOf(tool)
		return d.follow(ctx, turn, tool, func(ctx context.Context) (mcp.Result, error) { return next(ctx, method, req) })
	}
}

// actionCalled finds the tool of the actions that a request calls; nil if it
// calls none.
func (d *desk) actionCalled(method string, req mcp.Request) (*tool, *mcp.CallToolParamsRaw) {
	if method != callTool || d.acts == nil {
		return nil, nil
	}
	p, ok := req.GetParams().(*mcp.CallToolParamsRaw)
	if !ok || p == nil {
		return nil, nil
	}
	return actionTools()[p.Name], p
}

// counts reports whether a request is one of those that are limited: all of a
// key's, and of the owner's own processes those that act.
func (d *desk) counts(method string, tool *tool) bool {
	switch {
	case method == ping || strings.HasPrefix(method, "notifications/"):
		return false
	case hearken.IsKeyID(d.caller.Principal):
		return true
	}
	return tool != nil && d.caller.Principal == act.Local
}

// mayAct reports whether the caller is one that may act at all: a key, or the
// owner's own processes, which count as one.
func (d *desk) mayAct() bool {
	return hearken.IsKeyID(d.caller.Principal) || d.caller.Principal == act.Local
}

// mayCall says why a caller may not call a tool of the actions.
func (d *desk) mayCall(t *tool) *hearken.Error {
	if !d.mayAct() {
		return hearken.Errorf(hearken.Unauthorized, "Invalid API key").
			WithTry("hearken keys create, and send the key as: Authorization: Bearer KEY")
	}
	if !t.in(d.caller.Toolsets) {
		return hearken.Errorf(hearken.ScopeDenied, "This key may not use %s.", t.dotted).WithTry("a key made for it: hearken keys create --only actions")
	}
	return nil
}

// nameOf is how this caller's server calls a tool.
func (d *desk) nameOf(t *tool) string {
	if d.caller.Dotted && t.dotted != "" {
		return t.dotted
	}
	return t.Name
}

// follow looks after a call that may wait for a person: what becomes of the
// action if the client goes away or cannot ask.
func (d *desk) follow(ctx context.Context, turn *turn, tool *tool, call func(context.Context) (mcp.Result, error)) (mcp.Result, error) {
	within, cancel := context.WithTimeout(context.WithValue(ctx, turnKey{}, turn), askFor)
	defer cancel()
	res, err := call(within)
	if ctx.Err() != nil {
		return d.abandoned(ctx, turn, res, err)
	}
	if err == nil || !turn.asked {
		return res, err
	}
	// The client said that it could ask, and did not: the owner decides.
	d.log.Debug("elicitation failed", "tool", tool.dotted, "error", err)
	a, err := d.acts.actor.Action(ctx, turn.action)
	if err != nil {
		return d.notActed(ctx, tool.dotted, turn.action, err)
	}
	return d.acted(a), nil
}

// abandoned ends a call that nobody waits for any more. A client that says so
// has its action cancelled while it is pending, for it would not learn of its
// end; one whose connection was lost may come back and ask again.
func (d *desk) abandoned(ctx context.Context, turn *turn, res mcp.Result, err error) (mcp.Result, error) {
	cause := context.Cause(ctx)
	if e, ok := errors.AsType[*hearken.Error](cause); ok { // the key was revoked
		return nil, rpcFailure(e)
	}
	// What ends a lost connection may wrap context.Canceled. Only the bare error
	// is the client's word.
	if turn.action == "" || cause != context.Canceled { //nolint:errorlint // a wrapped one is something else
		return res, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelFor)
	defer cancel()
	if _, failed := d.acts.actor.Withdraw(ctx, d.caller.Principal, turn.action); failed != nil {
		d.log.Warn("a call that was cancelled left its action", "action", turn.action, "error", failed)
	}
	return res, err
}
