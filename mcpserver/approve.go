package mcpserver

import (
	"context"
	"encoding/json"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
)

// confirmation names the one question that a client is asked.
const confirmation = "confirm"

// decisionForm has no default: a client that fills in forms by itself does not
// approve by that.
const decisionForm = `{"type":"object","properties":{"decision":{"type":"string","title":"Decision","enum":["allow","deny"]}},"required":["decision"]}`

// mayAsk reports whether whoever sits before the client may decide about a
// pending action: the owner has said so of this key, the client can show a
// form, and nothing of it came from the far side of a call. That is for the
// owner alone, since the one before the client may be who was talked into it.
func (d *desk) mayAsk(call *mcp.CallToolRequest, a *hearken.Action) bool {
	if a.State != hearken.ActionPending || d.caller.Approver != hearken.ApproverClient {
		return false
	}
	for _, e := range a.Evidence {
		if e.Source == hearken.System || e.Echo {
			return false
		}
	}
	caps := call.ClientCapabilities()
	if caps == nil || caps.Elicitation == nil {
		return false
	}
	return caps.Elicitation.Form != nil || caps.Elicitation.URL == nil // neither is the form of old
}

// ask answers a call with a question. Clients of 2026-07-28 make the same call
// again with the answer; for older ones the SDK asks and calls the tool again.
func (d *desk) ask(ctx context.Context, w *wish, a *hearken.Action) (*mcp.CallToolResult, error) {
	turnOf(ctx).asked = true
	state := d.acts.seals.seal(request{
		Principal: d.caller.Principal, Tool: w.tool, Arguments: w.digest, Action: a.ID, Digest: a.Digest, Expires: a.ExpiresAt.Unix(),
	})
	return &mcp.CallToolResult{
		RequestState: state,
		InputRequests: mcp.InputRequestMap{confirmation: &mcp.ElicitParams{
			Mode: "form", Message: act.Describe(a), RequestedSchema: json.RawMessage(decisionForm),
		}},
	}, nil
}

// answered takes the answer to a question. What came back is checked before
// anything is done with it: the state was in the client's hands.
func (d *desk) answered(ctx context.Context, w *wish) (*mcp.CallToolResult, error) {
	turn := turnOf(ctx)
	turn.asked = false
	asked, ok := d.acts.seals.open(w.call.Params.RequestState)
	fresh, again := turn.fresh, false
	if ok && !fresh {
		fresh, again = d.acts.seals.take(asked.Nonce)
	}
	switch {
	case !ok || asked.Principal != d.caller.Principal || asked.Tool != w.tool || asked.Arguments != w.digest || d.caller.Approver != hearken.ApproverClient:
		return d.notActed(ctx, w.tool, "", hearken.Errorf(hearken.ApprovalMismatch, "This approval does not belong to this call; nothing was done.").
			WithTry("the call again, without requestState"))
	case again:
		return d.notActed(ctx, w.tool, asked.Action, usedBefore())
	case time.Now().Unix() >= asked.Expires:
		return d.notActed(ctx, w.tool, asked.Action, hearken.Errorf(hearken.ApprovalExpired, "The approval came too late; nothing was done."))
	}
	turn.action = asked.Action
	a, err := d.acts.actor.Action(ctx, asked.Action)
	if err != nil {
		return d.notActed(ctx, w.tool, asked.Action, err)
	}
	answer, given := w.call.Params.InputResponses[confirmation].(*mcp.ElicitResult)
	if (!given || answer == nil) && d.mayAsk(w.call, a) {
		return d.ask(ctx, w, a)
	}
	allow, ok := decision(answer)
	if !ok {
		return d.notActed(ctx, w.tool, a.ID, hearken.Errorf(hearken.ApprovalMismatch, "The form came back without a decision; nothing was done.").
			WithTry("the call again, without requestState"))
	}
	a, decided, err := d.acts.actor.Decide(ctx, act.Verdict{ID: a.ID, Digest: asked.Digest, Allow: allow, By: "client", From: "elicitation"})
	if err != nil {
		return d.notActed(ctx, w.tool, asked.Action, err)
	}
	if !decided && !fresh {
		return d.notActed(ctx, w.tool, a.ID, usedBefore())
	}
	return d.await(withProgress(ctx, w.call), w.tool, a)
}

func usedBefore() error {
	return hearken.Errorf(hearken.ApprovalMismatch, "This approval was used before; nothing was done.").WithTry("action_status")
}

// decision reads a form that came back, and whether it holds a decision. A
// form that was declined or closed means no.
func decision(answer *mcp.ElicitResult) (allow, ok bool) {
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
