package mcpserver

import (
	"context"
	"encoding/json"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
)

// confirmation names the only question that a client is asked.
const confirmation = "confirm"

// decisionForm has no default, so that a client which fills in forms
// automatically does not approve anything.
const decisionForm = `{"type":"object","properties":{"decision":{"type":"string","title":"Decision","enum":["allow","deny"]}},"required":["decision"]}`

// canAskClient reports whether the user of the client may decide about a
// pending action: the owner allowed it for this key, the client can show a
// form, and no part of the action came from the other side of a call. About
// the latter only the owner decides, since the user of the client may have
// been talked into it.
func (tc *toolContext) canAskClient(call *mcp.CallToolRequest, a *hearken.Action) bool {
	if a.State != hearken.ActionPending || tc.caller.Approver != hearken.ApproverClient {
		return false
	}
	for _, e := range a.Evidence {
		if e.Source == hearken.System || e.Echo || e.Overlap {
			return false
		}
	}
	caps := call.ClientCapabilities()
	if caps == nil || caps.Elicitation == nil {
		return false
	}
	return caps.Elicitation.Form != nil || caps.Elicitation.URL == nil // old clients that only know forms name neither
}

// askClient answers a call with a question. Clients of 2026-07-28 repeat the
// call with the answer; for older ones the SDK asks and repeats the call.
func (tc *toolContext) askClient(ctx context.Context, c *actionCall, a *hearken.Action) (*mcp.CallToolResult, error) {
	callStateOf(ctx).asked = true
	state := tc.states.sign(requestState{
		Principal: tc.caller.Principal, Tool: c.tool, Arguments: c.digest, Action: a.ID, Digest: a.Digest, Expires: a.ExpiresAt.Unix(),
	})
	return &mcp.CallToolResult{
		RequestState: state,
		InputRequests: mcp.InputRequestMap{confirmation: &mcp.ElicitParams{
			Mode: "form", Message: tc.question(a), RequestedSchema: json.RawMessage(decisionForm),
		}},
	}, nil
}

// applyAnswer applies the answer to a question. What came back is checked
// first, because the client had the state in its hands.
func (tc *toolContext) applyAnswer(ctx context.Context, c *actionCall) (*mcp.CallToolResult, error) {
	state := callStateOf(ctx)
	state.asked = false
	asked, ok := tc.states.verify(c.call.Params.RequestState)
	fresh, used := state.fresh, false
	if ok && !fresh {
		fresh, used = tc.states.markUsed(asked.Nonce)
	}
	switch {
	case !ok || asked.Principal != tc.caller.Principal || asked.Tool != c.tool || asked.Arguments != c.digest || tc.caller.Approver != hearken.ApproverClient:
		return tc.actionError(ctx, c.tool, "", hearken.Errorf(hearken.ApprovalMismatch, "This approval does not belong to this call. Nothing was done.").
			WithTry("repeat the call without requestState"))
	case used:
		return tc.actionError(ctx, c.tool, asked.Action, errUsedBefore())
	case time.Now().Unix() >= asked.Expires:
		return tc.actionError(ctx, c.tool, asked.Action, hearken.Errorf(hearken.ApprovalExpired, "The approval came too late. Nothing was done."))
	}
	state.action = asked.Action
	a, err := tc.Actions.Action(ctx, asked.Action)
	if err != nil {
		return tc.actionError(ctx, c.tool, asked.Action, err)
	}
	answer, given := c.call.Params.InputResponses[confirmation].(*mcp.ElicitResult)
	if (!given || answer == nil) && tc.canAskClient(c.call, a) {
		return tc.askClient(ctx, c, a)
	}
	allow, ok := decisionOf(answer)
	if !ok {
		return tc.actionError(ctx, c.tool, a.ID, hearken.Errorf(hearken.ApprovalMismatch, "The form came back without a decision. Nothing was done.").
			WithTry("repeat the call without requestState"))
	}
	a, decided, err := tc.Actions.Decide(ctx, act.DecisionRequest{ID: a.ID, Digest: asked.Digest, Allow: allow, By: "client", From: "elicitation"})
	if err != nil {
		return tc.actionError(ctx, c.tool, asked.Action, err)
	}
	if !decided && !fresh {
		return tc.actionError(ctx, c.tool, a.ID, errUsedBefore())
	}
	return tc.awaitAction(withProgress(ctx, c.call), c.tool, a)
}

func errUsedBefore() error {
	return hearken.Errorf(hearken.ApprovalMismatch, "This approval was used before. Nothing was done.").WithTry("action_status")
}

// decisionOf reads a form that came back, and reports whether it holds a
// decision. A form that was declined or closed means no.
func decisionOf(answer *mcp.ElicitResult) (allow, ok bool) {
	if answer == nil {
		return false, false
	}
	switch answer.Action {
	case "decline", "cancel":
		return false, true
	case "accept":
		word := answer.Content["decision"]
		return word == "allow", len(answer.Content) == 1 && (word == "allow" || word == "deny")
	}
	return false, false
}
