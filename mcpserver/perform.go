package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
)

const (
	// actionWait is how long a call waits for a person by default: clients
	// give up after a minute, many of them whatever progress they see.
	actionWait    = 45 * time.Second
	progressEvery = 5 * time.Second
)

// acting is what all servers of a factory share for actions.
type acting struct {
	actor   Actor
	wait    time.Duration
	seals   *seals
	closing context.Context // ends when the hub stops
	refused func(ctx context.Context, principal, tool string, code hearken.Code)
}

// A wish is one call for an action.
type wish struct {
	tool    string // with a dot
	call    *mcp.CallToolRequest
	request act.Request
	digest  string // of the arguments as they were read
}

// The words of an outcome's status.
const (
	statusOK    = "ok"
	statusError = "error"
)

// outcome is what every tool of the actions answers.
type outcome struct {
	Status string `json:"status"`
	ID     string `json:"id,omitempty"`
	Error  string `json:"error,omitempty"`
}

// outcomeJSON marks a result whose members also stand beside its content.
type outcomeJSON json.RawMessage

// perform proposes an action and waits for its end, or takes the answer of
// whoever sits before the client.
func (d *desk) perform(ctx context.Context, w *wish) (*mcp.CallToolResult, error) {
	if w.call.Params.RequestState != "" {
		return d.answered(ctx, w)
	}
	a, err := d.acts.actor.Propose(ctx, w.request)
	if err != nil {
		return d.notActed(ctx, w.tool, "", err)
	}
	turnOf(ctx).action = a.ID
	if d.mayAsk(w.call, a) {
		return d.ask(ctx, w, a)
	}
	return d.await(withProgress(ctx, w.call), w.tool, a)
}

// await waits for the end of an action, for as long as a client can.
func (d *desk) await(ctx context.Context, tool string, a *hearken.Action) (*mcp.CallToolResult, error) {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(d.acts.closing, cancel)()
	begin := time.Now()
	for !a.State.Final() {
		left := d.acts.wait - time.Since(begin)
		next, err := d.acts.actor.Await(waiting, a.ID, max(0, min(left, progressEvery)))
		if err != nil && ctx.Err() == nil && d.acts.closing.Err() != nil {
			break // the hub stops, and the action waits on
		}
		if err != nil {
			return d.notActed(ctx, tool, a.ID, err)
		}
		if a = next; a.State.Final() || left <= progressEvery {
			break
		}
		message := "Waits for the owner to approve " + a.ID + "."
		if a.State != hearken.ActionPending {
			message = a.ID + " is being carried out."
		}
		progress(ctx, time.Since(begin).Seconds(), d.acts.wait.Seconds(), message)
	}
	return d.acted(a), nil
}

// acted is the answer about an action as it is.
func (d *desk) acted(a *hearken.Action) *mcp.CallToolResult {
	if e := act.Failure(a); e != nil {
		return d.outcome(outcome{Status: statusError, ID: a.ID, Error: failureText(e)}, mendable(e.Code))
	}
	return d.outcome(outcome{Status: statusOK, ID: a.ID}, false)
}

// notActed is the answer to a call that failed: a result with the status
// "error", which is what the contract of these tools has. Only who is not, or
// no longer, let in gets a JSON-RPC error.
func (d *desk) notActed(ctx context.Context, tool, id string, err error) (*mcp.CallToolResult, error) {
	e, ok := errors.AsType[*hearken.Error](err)
	switch {
	case ok && (e.Code == hearken.Unauthorized || e.Code == hearken.RateLimited), !ok && ctx.Err() != nil:
		return d.failure(ctx, tool, err)
	case !ok:
		d.log.Error("tool failed", "tool", tool, "error", err)
		e = hearken.Errorf("internal", "Something went wrong inside the hub; its log says what.")
	}
	return d.outcome(outcome{Status: statusError, ID: id, Error: failureText(e)}, mendable(e.Code)), nil
}

func failureText(e *hearken.Error) string { return string(e.Code) + ": " + e.Error() }

// mendable reports whether a failure is one that the agent can do something
// about: only then it is an error to the model. What people and their rules
// decide is an answer; models take errors as a reason to try in another way.
func mendable(code hearken.Code) bool {
	return slices.Contains([]hearken.Code{
		hearken.Invalid, hearken.NotFound, hearken.AmbiguousRecipient, hearken.UnknownRecipient, hearken.InvalidRecipient,
		hearken.InvalidTime, hearken.InvalidRepeat, hearken.DurationOutOfRange, hearken.TimeInPast, "internal",
	}, code) || strings.HasPrefix(string(code), "no_") && strings.HasSuffix(string(code), "_address")
}

// outcome makes a result. [renderResults] writes its members three times: as
// text, as structure, and beside them.
func (d *desk) outcome(o outcome, isError bool) *mcp.CallToolResult {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(o); err != nil {
		panic("encode outcome: " + err.Error()) // three strings always encode
	}
	return &mcp.CallToolResult{StructuredContent: outcomeJSON(bytes.TrimSuffix(buf.Bytes(), []byte("\n"))), IsError: isError}
}
