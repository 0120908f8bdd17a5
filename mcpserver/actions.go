package mcpserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	"github.com/hearken-dev/hearken/safetext"
)

// The tools that read and cancel an action, spelled like the three that
// request one.
const (
	actionStatus = "action.status"
	actionCancel = "action.cancel"
)

// An ActionQueue has people decide about actions and carries them out. It is
// implemented by [act.Queue].
type ActionQueue interface {
	Propose(ctx context.Context, req act.Request) (*hearken.Action, error)
	Await(ctx context.Context, id string, wait time.Duration) (*hearken.Action, error)
	Decide(ctx context.Context, v act.DecisionRequest) (a *hearken.Action, decided bool, err error)
	Cancel(ctx context.Context, principal, id string) (*hearken.Action, error)
	Withdraw(ctx context.Context, principal, id string) (*hearken.Action, error)
	Action(ctx context.Context, id string) (*hearken.Action, error)
}

// evidenceIn is where an agent says that it found the words behind an action.
// The hub searches its transcripts itself; this only says where to look first.
type evidenceIn struct {
	Session  string   `json:"session_id,omitempty"`
	Segments []string `json:"segment_ids,omitempty"`
	Quote    string   `json:"quote,omitempty"`
}

type calendarIn struct {
	Title          string      `json:"title"`
	Start          string      `json:"start" jsonschema:"ISO 8601; without an offset, in the owner's time zone"`
	DurationMin    *float64    `json:"duration_min"`
	Description    string      `json:"description,omitempty"`
	Location       string      `json:"location,omitempty"`
	Evidence       *evidenceIn `json:"evidence,omitempty" jsonschema:"Where it was said"`
	IdempotencyKey string      `json:"idempotency_key,omitempty" jsonschema:"Calls with the same key are one action. Default: so are equal calls within 10 minutes"`
}

func calendarCreate() *tool {
	return defineRequest(hearken.CalendarCreate, "Create an appointment",
		"Creates a calendar event after the owner approves. On approval_pending, tell the user and check action_status later.",
		func(in calendarIn) (act.Request, *evidenceIn, string) {
			return act.Request{Calendar: &act.CalendarArgs{
				Title: in.Title, Start: in.Start, Minutes: *in.DurationMin, Description: in.Description, Location: in.Location,
			}}, in.Evidence, in.IdempotencyKey
		})
}

type messageIn struct {
	To             string      `json:"to" jsonschema:"A contact's name or an address"`
	Text           string      `json:"text"`
	Platform       string      `json:"platform,omitempty" jsonschema:"sms or email"`
	Evidence       *evidenceIn `json:"evidence,omitempty"`
	IdempotencyKey string      `json:"idempotency_key,omitempty"`
}

func messageSend() *tool {
	return defineRequest(hearken.MessageSend, "Send a message",
		"Sends a message after the owner approves. Approval works as in calendar_create.",
		func(in messageIn) (act.Request, *evidenceIn, string) {
			return act.Request{Message: &act.MessageArgs{To: in.To, Text: in.Text, Platform: in.Platform}}, in.Evidence, in.IdempotencyKey
		})
}

type reminderIn struct {
	Time           string      `json:"time" jsonschema:"ISO 8601; without an offset, in the owner's time zone"`
	Note           string      `json:"note"`
	Repeat         string      `json:"repeat,omitempty" jsonschema:"daily, weekdays, weekly, monthly, yearly or an RRULE"`
	Evidence       *evidenceIn `json:"evidence,omitempty"`
	IdempotencyKey string      `json:"idempotency_key,omitempty"`
}

func reminderCreate() *tool {
	return defineRequest(hearken.ReminderCreate, "Set a reminder",
		"Sets a reminder for the owner, who approves it first. Approval works as in calendar_create.",
		func(in reminderIn) (act.Request, *evidenceIn, string) {
			return act.Request{Reminder: &act.ReminderArgs{Time: in.Time, Note: in.Note, Repeat: in.Repeat}}, in.Evidence, in.IdempotencyKey
		})
}

type actionIn struct {
	ID string `json:"id"`
}

func getActionStatus() *tool {
	return defineAction(actionStatus, "Action status", "Reports the status of one of your actions.", effect{readOnly: true},
		func(ctx context.Context, tc *toolContext, _ *mcp.CallToolRequest, in actionIn) (*mcp.CallToolResult, error) {
			a, err := tc.ownAction(ctx, in.ID)
			if err != nil {
				return nil, err
			}
			return actionResult(a), nil
		})
}

func cancelAction() *tool {
	return defineAction(actionCancel, "Cancel an action", "Cancels one of your actions, or undoes it if it already ran and can be undone.",
		effect{destructive: true, idempotent: true, openWorld: true},
		func(ctx context.Context, tc *toolContext, _ *mcp.CallToolRequest, in actionIn) (*mcp.CallToolResult, error) {
			a, err := tc.ownAction(ctx, in.ID)
			if err == nil {
				a, err = tc.Actions.Cancel(ctx, tc.caller.Principal, in.ID)
			}
			if err != nil {
				return tc.actionError(ctx, actionCancel, in.ID, err)
			}
			if a.State == hearken.ActionCancelled || a.State == hearken.ActionUndone {
				return outcomeResult(outcome{Status: statusOK, ID: a.ID}, false), nil
			}
			return actionResult(a), nil
		})
}

// ownAction returns an action of the caller. Those of others are not found.
func (tc *toolContext) ownAction(ctx context.Context, id string) (*hearken.Action, error) {
	a, err := tc.Actions.Action(ctx, id)
	if err == nil && a.Principal != tc.caller.Principal {
		err = hearken.Errorf(hearken.NotFound, "You have no action %s.", id)
	}
	if hearken.CodeOf(err) == hearken.NotFound {
		err = hearken.Errorf(hearken.NotFound, "You have no action %q.", safetext.Clip(id, 40))
	}
	return a, err
}

// defineRequest makes a tool that requests one kind of action.
func defineRequest[In any](name, title, description string, read func(In) (act.Request, *evidenceIn, string)) *tool {
	return defineAction(name, title, description, effect{idempotent: true, openWorld: true},
		func(ctx context.Context, tc *toolContext, call *mcp.CallToolRequest, in In) (*mcp.CallToolResult, error) {
			arguments, err := json.Marshal(in)
			if err != nil {
				return nil, fmt.Errorf("encode arguments: %w", err)
			}
			sum := sha256.Sum256(arguments)
			c := &actionCall{tool: name, call: call, digest: hex.EncodeToString(sum[:])}
			var claim *evidenceIn
			c.request, claim, c.request.IdempotencyKey = read(in)
			if len(c.request.IdempotencyKey) > 200 {
				return nil, invalid("idempotency_key must be at most 200 bytes long, got %d.", len(c.request.IdempotencyKey))
			}
			if err := claim.check(); err != nil {
				return nil, err
			}
			c.request.Principal, c.request.Client, c.request.Tool = tc.caller.Principal, clientName(call), name
			c.request.Claim = (*act.Claim)(claim)
			return tc.requestAction(ctx, c)
		})
}

func (e *evidenceIn) check() error {
	switch {
	case e == nil:
	case len(e.Segments) > 100:
		return invalid("evidence.segment_ids must be at most 100 entries long, got %d.", len(e.Segments))
	case len(e.Quote) > 4000 || len(e.Session) > 100 || len(strings.Join(e.Segments, "")) > 10_000:
		return invalid("evidence is too long: use IDs as get_transcription returns them and a quote of at most 4000 bytes.")
	}
	return nil
}

// clientName is what the client calls itself.
func clientName(call *mcp.CallToolRequest) string {
	info := call.ClientInfo()
	if info == nil {
		return ""
	}
	return strings.TrimSpace(safetext.Clip(info.Name, 60) + " " + safetext.Clip(info.Version, 20))
}

// defineAction makes an action tool. It has two names: the contract's, with a
// dot, and one with an underscore for clients that accept no dots. Its failures
// are results too: see [toolContext.actionError].
func defineAction[In any](dotted, title, description string, e effect,
	run func(ctx context.Context, tc *toolContext, call *mcp.CallToolRequest, in In) (*mcp.CallToolResult, error)) *tool {
	fail := func(tc *toolContext, ctx context.Context, tool string, err error) (*mcp.CallToolResult, error) {
		return tc.actionError(ctx, tool, "", err)
	}
	t := newTool(strings.ReplaceAll(dotted, ".", "_"), title, description, e, fail, run)
	t.set, t.dotted = Actions, dotted
	t.output = schemaOf[outcome]()
	// All of these tools return the same. The first one says what; repeating it
	// would only cost tokens.
	if dotted == hearken.CalendarCreate {
		t.OutputSchema = outlineOf(t.output)
	} else if evidence := t.input.Properties["evidence"]; evidence != nil {
		*evidence = jsonschema.Schema{Type: "object", Description: "As in calendar_create"}
	}
	return t
}

// actionTools finds the action tools by either name.
var actionTools = sync.OnceValue(func() map[string]*tool {
	byName := map[string]*tool{}
	for _, t := range tools() {
		if t.dotted != "" {
			byName[t.dotted], byName[t.Name] = t, t
		}
	}
	return byName
})
