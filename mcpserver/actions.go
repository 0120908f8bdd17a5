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

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
)

// The tools that look at an action and take it back, in the spelling of the
// three that make one.
const (
	actionStatus = "action.status"
	actionCancel = "action.cancel"
)

// An Actor has people decide about actions and carries them out; an
// [act.Queue] is one.
type Actor interface {
	Propose(ctx context.Context, req act.Request) (*hearken.Action, error)
	Await(ctx context.Context, id string, wait time.Duration) (*hearken.Action, error)
	Decide(ctx context.Context, v act.Verdict) (a *hearken.Action, decided bool, err error)
	Cancel(ctx context.Context, principal, id string) (*hearken.Action, error)
	Withdraw(ctx context.Context, principal, id string) (*hearken.Action, error)
	Action(ctx context.Context, id string) (*hearken.Action, error)
}

// evidenceIn is where an agent says that it found the words behind an action.
// The hub looks for itself; this only tells it where to look first.
type evidenceIn struct {
	Session  string   `json:"session_id,omitempty"`
	Segments []string `json:"segment_ids,omitempty"`
	Quote    string   `json:"quote,omitempty"`
}

type calendarIn struct {
	Title       string      `json:"title"`
	Start       string      `json:"start" jsonschema:"ISO 8601; without an offset, in the owner's time zone"`
	DurationMin *float64    `json:"duration_min"`
	Description string      `json:"description,omitempty"`
	Location    string      `json:"location,omitempty"`
	Evidence    *evidenceIn `json:"evidence,omitempty" jsonschema:"Where it was said"`
	Same        string      `json:"idempotency_key,omitempty" jsonschema:"Calls with the same key are one action. Default: so are equal calls within 10 minutes"`
}

func calendarCreate() *tool {
	return defineWish(hearken.CalendarCreate, "Create an appointment",
		"Creates a calendar event after the owner approves. If it returns approval_pending, repeat the call to keep waiting.",
		func(in calendarIn) (act.Request, *evidenceIn, string) {
			return act.Request{Calendar: &act.CalendarArgs{
				Title: in.Title, Start: in.Start, Minutes: *in.DurationMin, Description: in.Description, Location: in.Location,
			}}, in.Evidence, in.Same
		})
}

type messageIn struct {
	To       string      `json:"to" jsonschema:"A contact's name or an address"`
	Text     string      `json:"text"`
	Platform string      `json:"platform,omitempty" jsonschema:"sms or email"`
	Evidence *evidenceIn `json:"evidence,omitempty"`
	Same     string      `json:"idempotency_key,omitempty"`
}

func messageSend() *tool {
	return defineWish(hearken.MessageSend, "Send a message",
		"Sends a message after the owner approves. Approval works as in calendar_create.",
		func(in messageIn) (act.Request, *evidenceIn, string) {
			return act.Request{Message: &act.MessageArgs{To: in.To, Text: in.Text, Platform: in.Platform}}, in.Evidence, in.Same
		})
}

type reminderIn struct {
	Time     string      `json:"time" jsonschema:"ISO 8601; without an offset, in the owner's time zone"`
	Note     string      `json:"note"`
	Repeat   string      `json:"repeat,omitempty" jsonschema:"daily, weekdays, weekly, monthly, yearly or an RRULE"`
	Evidence *evidenceIn `json:"evidence,omitempty"`
	Same     string      `json:"idempotency_key,omitempty"`
}

func reminderCreate() *tool {
	return defineWish(hearken.ReminderCreate, "Set a reminder",
		"Sets a reminder for the owner, who approves it first. Approval works as in calendar_create.",
		func(in reminderIn) (act.Request, *evidenceIn, string) {
			return act.Request{Reminder: &act.ReminderArgs{Time: in.Time, Note: in.Note, Repeat: in.Repeat}}, in.Evidence, in.Same
		})
}

type actionIn struct {
	ID string `json:"id"`
}

func statusOfAction() *tool {
	return defineAction(actionStatus, "Look at an action", "Reports the status of one of your actions.", effect{readOnly: true},
		func(ctx context.Context, d *desk, _ *mcp.CallToolRequest, in actionIn) (*mcp.CallToolResult, error) {
			a, err := d.ownAction(ctx, in.ID)
			if err != nil {
				return d.notActed(ctx, actionStatus, "", err)
			}
			return d.acted(a), nil
		})
}

func cancelAction() *tool {
	return defineAction(actionCancel, "Cancel an action", "Cancels one of your actions, or undoes it if it already ran and can be undone.",
		effect{destructive: true, idempotent: true, openWorld: true},
		func(ctx context.Context, d *desk, _ *mcp.CallToolRequest, in actionIn) (*mcp.CallToolResult, error) {
			a, err := d.ownAction(ctx, in.ID)
			if err == nil {
				a, err = d.acts.actor.Cancel(ctx, d.caller.Principal, in.ID)
			}
			if err != nil {
				return d.notActed(ctx, actionCancel, in.ID, err)
			}
			if a.State == hearken.ActionCancelled || a.State == hearken.ActionUndone {
				return d.outcome(outcome{Status: statusOK, ID: a.ID}, false), nil
			}
			return d.acted(a), nil
		})
}

// ownAction finds an action of the caller; another's is not there.
func (d *desk) ownAction(ctx context.Context, id string) (*hearken.Action, error) {
	a, err := d.acts.actor.Action(ctx, id)
	if err == nil && a.Principal != d.caller.Principal {
		err = hearken.Errorf(hearken.NotFound, "There is no action %s of yours.", id)
	}
	if hearken.CodeOf(err) == hearken.NotFound {
		err = hearken.Errorf(hearken.NotFound, "There is no action %q of yours.", clip(id, 40))
	}
	return a, err
}

// defineWish makes the tool with which an agent asks for one kind of action.
func defineWish[In any](name, title, description string, read func(In) (act.Request, *evidenceIn, string)) *tool {
	return defineAction(name, title, description, effect{idempotent: true, openWorld: true},
		func(ctx context.Context, d *desk, call *mcp.CallToolRequest, in In) (*mcp.CallToolResult, error) {
			arguments, err := json.Marshal(in)
			if err != nil {
				return nil, fmt.Errorf("encode arguments: %w", err)
			}
			sum := sha256.Sum256(arguments)
			w := &wish{tool: name, call: call, digest: hex.EncodeToString(sum[:])}
			var said *evidenceIn
			w.request, said, w.request.IdempotencyKey = read(in)
			if len(w.request.IdempotencyKey) > 200 {
				return d.notActed(ctx, name, "", invalid("idempotency_key must be at most 200 bytes long, got %d.", len(w.request.IdempotencyKey)))
			}
			if err := said.check(); err != nil {
				return d.notActed(ctx, name, "", err)
			}
			w.request.Principal, w.request.Client, w.request.Tool = d.caller.Principal, clientName(call), name
			if said != nil {
				w.request.Claim = &act.Claim{Session: said.Session, Segments: said.Segments, Quote: said.Quote}
			}
			return d.perform(ctx, w)
		})
}

func (e *evidenceIn) check() error {
	switch {
	case e == nil:
	case len(e.Segments) > 100:
		return invalid("evidence.segment_ids must be at most 100 entries long, got %d.", len(e.Segments))
	case len(e.Quote) > 4000 || len(e.Session) > 100 || len(strings.Join(e.Segments, "")) > 10_000:
		return invalid("evidence is too long: a quote of at most 4000 bytes, and ids as get_transcription gives them.")
	}
	return nil
}

// clientName is what the client calls itself.
func clientName(call *mcp.CallToolRequest) string {
	info := call.ClientInfo()
	if info == nil {
		return ""
	}
	return strings.TrimSpace(clip(info.Name, 60) + " " + clip(info.Version, 20))
}

// defineAction makes a tool of the actions. It has two names: the one with a
// dot is the contract's, the one with an underscore that of clients which take
// no dots. Its failures are results too: see [desk.notActed].
func defineAction[In any](dotted, title, description string, e effect,
	run func(ctx context.Context, d *desk, call *mcp.CallToolRequest, in In) (*mcp.CallToolResult, error)) *tool {
	in := newArguments[In](underscored(dotted))
	t := newTool(underscored(dotted), title, description, e, in.schema)
	t.set, t.dotted = Actions, dotted
	t.output = schemaOf[outcome]()
	// All of these tools return the same. The first one says what; repeating it
	// would only cost tokens.
	if dotted == hearken.CalendarCreate {
		t.OutputSchema = outlineOf(t.output)
	} else if said := in.schema.Properties["evidence"]; said != nil {
		said.Properties, said.PropertyOrder, said.Description = nil, nil, "As in calendar_create"
	}
	t.perform = func(arguments json.RawMessage) (performance, error) {
		args, err := in.read(arguments)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, d *desk, call *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return run(ctx, d, call, args)
		}, nil
	}
	return t
}

func underscored(dotted string) string { return strings.ReplaceAll(dotted, ".", "_") }

// actionTools finds the tools of the actions by either name.
var actionTools = sync.OnceValue(func() map[string]*tool {
	byName := map[string]*tool{}
	for _, t := range tools() {
		if t.dotted != "" {
			byName[t.dotted], byName[t.Name] = t, t
		}
	}
	return byName
})
