package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/live"
)

// A desk is where one caller's calls are dealt with.
type desk struct {
	hub      *live.Hub
	scribe   hearken.Scribe // nil if this computer's sound is not offered
	acts     *acting        // nil if there are no actions
	limiter  *limiter
	caller   Caller
	audioURL func(session, ticket string) string
	log      *slog.Logger
}

// A tool is what is offered to a model, and what happens on a call.
type tool struct {
	*mcp.Tool
	set    string
	dotted string // the other name of a tool of the actions
	input  *jsonschema.Schema
	output *jsonschema.Schema // of all that a result holds; nil for text alone
	// bind reads the arguments of a call and returns what it does.
	bind func(arguments json.RawMessage) (func(context.Context, *desk) (any, error), error)
	// perform is bind for the tools of the actions, which look at the whole
	// call and make the whole result.
	perform func(arguments json.RawMessage) (performance, error)
}

// A performance is all of one call.
type performance func(context.Context, *desk, *mcp.CallToolRequest) (*mcp.CallToolResult, error)

// tools lists every tool. They are the same for all servers of a process.
var tools = sync.OnceValue(func() []*tool {
	return []*tool{
		startTranscription(),
		stopTranscription(),
		getTranscription(),
		listSessions(),
		getSessionStatus(),
		exportSession(),
		searchTranscripts(),
		retranscribeSession(),
		saveNote(),
		forgetRecent(),
		deleteSession(),
		scribeStart(),
		scribeStop(),
		scribeStatus(),
		scribeTail(),
		scribeCat(),
		scribeSessions(),
		scribeNew(),
		scribeGrep(),
		watchTranscript(),
		calendarCreate(),
		messageSend(),
		reminderCreate(),
		statusOfAction(),
		cancelAction(),
	}
})

// effect is what a call does to the world, in the words of tool annotations.
type effect struct {
	readOnly, destructive, idempotent, openWorld bool
}

// define makes a tool of a function. In and Out give the schemas; the function
// gets arguments that keep to In's.
func define[In, Out any](name, title, description string, e effect, run func(context.Context, *desk, In) (Out, error)) *tool {
	in := newArguments[In](name)
	t := newTool(name, title, description, e, in.schema)
	t.output = schemaOf[Out]()
	t.OutputSchema = outlineOf(t.output)
	t.bind = func(arguments json.RawMessage) (func(context.Context, *desk) (any, error), error) {
		args, err := in.read(arguments)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, d *desk) (any, error) { return run(ctx, d, args) }, nil
	}
	return t
}

func newTool(name, title, description string, e effect, input *jsonschema.Schema) *tool {
	notes := &mcp.ToolAnnotations{ReadOnlyHint: e.readOnly, IdempotentHint: e.idempotent || e.readOnly, OpenWorldHint: &e.openWorld}
	if !e.readOnly { // what changes nothing destroys nothing
		notes.DestructiveHint = &e.destructive
	}
	return &tool{
		Tool:  &mcp.Tool{Name: name, Title: title, Description: description, InputSchema: input, Annotations: notes},
		set:   Transcription,
		input: input,
	}
}

// handler is what the SDK calls. [renderResults] makes the text of a result.
func (t *tool) handler(d *desk) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (res *mcp.CallToolResult, err error) {
		defer func() {
			if v := recover(); v != nil {
				// The value may hold what somebody said; its type does not.
				d.log.Error("tool panicked", "tool", t.Name, "type", fmt.Sprintf("%T", v), "stack", string(debug.Stack()))
				res, err = nil, internalError()
			}
		}()
		if t.perform != nil {
			call, err := t.perform(req.Params.Arguments)
			if err != nil {
				return d.notActed(ctx, t.Name, "", err)
			}
			return call(ctx, d, req)
		}
		failure := d.failure
		if t.set == Scribe {
			failure = d.refusal
		}
		call, err := t.bind(req.Params.Arguments)
		if err != nil {
			return failure(ctx, t.Name, err)
		}
		out, err := call(withProgress(ctx, req), d)
		if err != nil {
			return failure(ctx, t.Name, err)
		}
		if text, ok := out.(notation); ok {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}}, nil
		}
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(out); err != nil {
			return d.failure(ctx, t.Name, fmt.Errorf("encode result: %w", err))
		}
		return &mcp.CallToolResult{StructuredContent: json.RawMessage(bytes.TrimSuffix(buf.Bytes(), []byte("\n")))}, nil
	}
}

// session checks an id as a caller gave it. Some systems write UUIDs in upper
// case; anything else that is not an id cannot be one of a session.
func session(id string) (string, error) {
	lower := bytes.ToLower([]byte(id))
	if !hearken.ValidID(string(lower)) {
		return "", hearken.Errorf(hearken.SessionNotFound, "%q is not the id of a session.", clip(id, 64)).WithTry("list_sessions")
	}
	return string(lower), nil
}
