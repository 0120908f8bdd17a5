package mcpserver

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
)

const (
	callTool = "tools/call"
	ping     = "ping"
	// askTimeout bounds how long an old client may take to answer a question.
	// The action itself has expired by then.
	askTimeout = 15 * time.Minute
	// withdrawTimeout bounds how long it may take to withdraw the action of a
	// client that has left.
	withdrawTimeout = 5 * time.Second
)

// A callState is what the middleware and the handler of one call share.
type callState struct {
	action string // that the call is about, once it is known
	asked  bool   // whether the client is being asked
	fresh  bool   // whether the call brings an answer that was not used before
}

type callStateKey struct{}

// callStateOf is the state of a call of an action tool, as runActionTool set it.
func callStateOf(ctx context.Context) *callState { return ctx.Value(callStateKey{}).(*callState) }

// checkAccess is middleware that enforces the rate limit, accepts action tools
// by either of their names, and refuses callers that may not act.
func (tc *toolContext) checkAccess(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		tool, params := tc.actionToolOf(method, req)
		state := &callState{}
		if tool != nil && params.RequestState != "" {
			asked, ok := tc.states.verify(params.RequestState)
			if ok && asked.Principal == tc.caller.Principal {
				state.fresh, _ = tc.states.markUsed(asked.Nonce)
			}
		}
		if tc.isLimited(method, tool) && !state.fresh {
			if wait := tc.limiter.waitTime(tc.caller.Principal); wait > 0 {
				return nil, tc.limiter.limitError(wait)
			}
		}
		if tool == nil {
			return next(ctx, method, req)
		}
		if e := tc.checkMayCall(tool); e != nil {
			if tc.OnRefused != nil {
				tc.OnRefused(ctx, tc.caller.Principal, tool.dotted, e.Code)
			}
			res, err := tc.actionError(ctx, tool.dotted, "", e)
			if err != nil { // a nil *CallToolResult in a Result would not be nil
				return nil, err
			}
			return res, nil
		}
		params.Name = tc.nameOf(tool)
		return tc.runActionTool(ctx, state, tool, func(ctx context.Context) (mcp.Result, error) { return next(ctx, method, req) })
	}
}

// actionToolOf is the action tool that a request calls; nil if it calls none.
func (tc *toolContext) actionToolOf(method string, req mcp.Request) (*tool, *mcp.CallToolParamsRaw) {
	if method != callTool || tc.Actions == nil {
		return nil, nil
	}
	p, ok := req.GetParams().(*mcp.CallToolParamsRaw)
	if !ok || p == nil {
		return nil, nil
	}
	return actionTools()[p.Name], p
}

// isLimited reports whether a request counts towards the rate limit: every
// request of a key does, and of the owner's own processes those that act.
func (tc *toolContext) isLimited(method string, tool *tool) bool {
	switch {
	case method == ping || strings.HasPrefix(method, "notifications/"):
		return false
	case hearken.IsKeyID(tc.caller.Principal):
		return true
	}
	return tool != nil && tc.caller.Principal == act.Local
}

// mayAct reports whether the caller may act at all: keys may, and so may the
// owner's own processes, which count as one key.
func (tc *toolContext) mayAct() bool {
	return hearken.IsKeyID(tc.caller.Principal) || tc.caller.Principal == act.Local
}

// checkMayCall says why the caller may not call an action tool; nil if it may.
func (tc *toolContext) checkMayCall(t *tool) *hearken.Error {
	if !tc.mayAct() {
		return hearken.Errorf(hearken.Unauthorized, "Invalid API key").
			WithTry("hearken keys create, and send the key as: Authorization: Bearer KEY")
	}
	if !t.inToolsets(tc.caller.Toolsets) {
		return hearken.Errorf(hearken.ScopeDenied, "This key may not use %s.", t.dotted).WithTry("a key made for it: hearken keys create --only actions")
	}
	return nil
}

// nameOf is the name of a tool on this caller's server.
func (tc *toolContext) nameOf(t *tool) string {
	if usesDottedNames(tc.caller) && t.dotted != "" {
		return t.dotted
	}
	return t.Name
}

// runActionTool runs a call that may wait for a person. It also deals with a
// client that leaves, or that cannot ask after all.
func (tc *toolContext) runActionTool(ctx context.Context, state *callState, tool *tool, call func(context.Context) (mcp.Result, error)) (mcp.Result, error) {
	bounded, cancel := context.WithTimeout(context.WithValue(ctx, callStateKey{}, state), askTimeout)
	defer cancel()
	res, err := call(bounded)
	if ctx.Err() != nil {
		return tc.abandonCall(ctx, state, res, err)
	}
	if err == nil || !state.asked {
		return res, err
	}
	// The client said that it could ask, and did not: the owner decides.
	tc.Log.Debug("elicitation failed", "tool", tool.dotted, "error", err)
	a, err := tc.Actions.Action(ctx, state.action)
	if err != nil {
		return tc.actionError(ctx, tool.dotted, state.action, err)
	}
	return actionResult(a), nil
}

// abandonCall ends a call that nobody waits for any more. If the client
// cancelled it, a pending action is withdrawn, because the client would not
// learn of its end. A client that lost its connection may come back and ask.
func (tc *toolContext) abandonCall(ctx context.Context, state *callState, res mcp.Result, err error) (mcp.Result, error) {
	cause := context.Cause(ctx)
	if e, ok := errors.AsType[*hearken.Error](cause); ok { // the key was revoked
		return nil, rpcFailure(e)
	}
	// The error of a lost connection may wrap context.Canceled. Only the bare
	// error comes from the client.
	if state.action == "" || cause != context.Canceled { //nolint:errorlint // a wrapped one is something else
		return res, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawTimeout)
	defer cancel()
	if _, failed := tc.Actions.Withdraw(ctx, tc.caller.Principal, state.action); failed != nil {
		tc.Log.Warn("action of a cancelled call was not withdrawn", "action", state.action, "error", failed)
	}
	return res, err
}

// The toolsets by name.
const (
	AllTools      = "all"
	Transcription = "transcription"        // sessions, transcripts, search
	Scribe        = "scribe"               // this computer's microphone and system audio
	Actions       = hearken.ActionsToolset // calendar, messages, reminders
	ReadOnly      = "read"                 // only tools that change nothing
)

// CheckToolsets fails if a name is not a toolset. Several toolsets together give
// the tools of each, except that "read" removes all tools that change
// something: "read" alone is every read-only tool, "read" with "scribe" is the
// read-only tools of scribe.
func CheckToolsets(names []string) error {
	known := []string{AllTools, Transcription, Scribe, Actions, ReadOnly}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return hearken.Errorf(hearken.Invalid, "There is no toolset %q.", name).WithTry("one of %s", strings.Join(known, ", "))
		}
	}
	return nil
}

// inToolsets reports whether the tool is in the named toolsets. A name that is not a
// toolset has no tools, so that a misspelt restriction is not a wider one.
func (t *tool) inToolsets(names []string) bool {
	if slices.Contains(names, ReadOnly) && !t.Annotations.ReadOnlyHint {
		return false
	}
	return allowReading(names, t.set)
}

// allowReading reports whether the named toolsets allow reading what a toolset
// gives access to.
func allowReading(names []string, set string) bool {
	return len(names) == 0 || slices.ContainsFunc(names, func(name string) bool {
		return name == AllTools || name == set || name == ReadOnly && len(names) == 1
	})
}
