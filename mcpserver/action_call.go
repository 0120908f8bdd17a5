package mcpserver

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
)

const (
	// defaultActionWait is how long a call waits for a person: many clients
	// give up after a minute, whatever progress is reported.
	defaultActionWait = 45 * time.Second
	// progressEvery is how often a waiting call reports progress.
	progressEvery = 5 * time.Second
)

// An actionCall is one call of a tool that requests an action.
type actionCall struct {
	tool    string // with a dot
	call    *mcp.CallToolRequest
	request act.Request
	digest  string // of the arguments as they were read
}

// The values of an outcome's status.
const (
	statusOK    = "ok"
	statusError = "error"
)

// An outcome is the result of every action tool.
type outcome struct {
	Status string `json:"status"`
	ID     string `json:"id,omitempty"`
	Error  string `json:"error,omitempty"`
}

// outcomeJSON is an outcome whose fields also stand beside a result's content.
type outcomeJSON json.RawMessage

// requestAction proposes an action and waits for its end. If the call brings
// the answer to a question, that answer is applied instead.
func (tc *toolContext) requestAction(ctx context.Context, c *actionCall) (*mcp.CallToolResult, error) {
	if c.call.Params.RequestState != "" {
		return tc.applyAnswer(ctx, c)
	}
	a, err := tc.Actions.Propose(ctx, c.request)
	if err != nil {
		return nil, err
	}
	callStateOf(ctx).action = a.ID
	if tc.canAskClient(c.call, a) {
		return tc.askClient(ctx, c, a)
	}
	if a.State == hearken.ActionPending && a.Call != "" && !act.Urgent(a, time.Now()) {
		return actionResult(a), nil // nobody decides before the call has ended
	}
	return tc.awaitAction(withProgress(ctx, c.call), c.tool, a)
}

// awaitAction waits for the end of an action, for as long as clients do.
func (tc *toolContext) awaitAction(ctx context.Context, tool string, a *hearken.Action) (*mcp.CallToolResult, error) {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(tc.closing, cancel)()
	begin := time.Now()
	for !a.State.Final() {
		left := tc.ActionWait - time.Since(begin)
		next, err := tc.Actions.Await(waiting, a.ID, max(0, min(left, progressEvery)))
		if err != nil && ctx.Err() == nil && tc.closing.Err() != nil {
			break // the hub stops; the action remains
		}
		if err != nil {
			return tc.actionError(ctx, tool, a.ID, err)
		}
		if a = next; a.State.Final() || left <= progressEvery {
			break
		}
		message := "Waiting for the owner to approve " + a.ID + "."
		if a.State != hearken.ActionPending {
			message = "Carrying out " + a.ID + "."
		}
		reportProgress(ctx, time.Since(begin).Seconds(), tc.ActionWait.Seconds(), message)
	}
	return actionResult(a), nil
}

// actionResult is the result for an action in its present state.
func actionResult(a *hearken.Action) *mcp.CallToolResult {
	if e := act.Failure(a); e != nil {
		failed := a.State == hearken.ActionFailed || a.State == hearken.ActionUnknown
		return outcomeResult(outcome{Status: statusError, ID: a.ID, Error: errorText(e)}, failed || isCorrectable(e.Code))
	}
	return outcomeResult(outcome{Status: statusOK, ID: a.ID}, false)
}

// actionError is the result of a call that failed. As the contract of these
// tools demands, that is a result with the status "error". Only a caller that
// is not allowed in, or no longer, gets a JSON-RPC error.
func (tc *toolContext) actionError(ctx context.Context, tool, id string, err error) (*mcp.CallToolResult, error) {
	e := tc.errorForCaller(ctx, tool, err)
	if e.Code == hearken.Unauthorized || e.Code == hearken.RateLimited || e == errCancelled {
		return nil, rpcFailure(e)
	}
	return outcomeResult(outcome{Status: statusError, ID: id, Error: errorText(e)}, isCorrectable(e.Code)), nil
}

func errorText(e *hearken.Error) string { return string(e.Code) + ": " + e.Error() }

// isCorrectable reports whether an agent can do something about a failure. Only
// then is it an error to the model. What people and their rules decide is a
// plain result: models take errors as a reason to try another way.
func isCorrectable(code hearken.Code) bool {
	return slices.Contains([]hearken.Code{
		hearken.Invalid, hearken.NotFound, hearken.AmbiguousRecipient, hearken.UnknownRecipient, hearken.InvalidRecipient,
		hearken.InvalidTime, hearken.InvalidRepeat, hearken.DurationOutOfRange, hearken.TimeInPast, internal,
	}, code) || strings.HasPrefix(string(code), "no_") && strings.HasSuffix(string(code), "_address")
}

// outcomeResult makes a result of an outcome. [renderResults] writes its fields
// three times: as text, as structure, and beside them.
func outcomeResult(o outcome, isError bool) *mcp.CallToolResult {
	data, err := compactJSON(o)
	if err != nil {
		panic("encode outcome: " + err.Error()) // three strings always encode
	}
	return &mcp.CallToolResult{StructuredContent: outcomeJSON(data), IsError: isError}
}
