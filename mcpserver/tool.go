package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/live"
	"github.com/hearken-dev/hearken/safetext"
)

// A toolContext is what the tools of one caller's server work with.
type toolContext struct {
	hub      *live.Hub
	scribe   hearken.Scribe // nil if this computer cannot be captured
	actions  *actionService // nil if there are no actions
	limiter  *limiter
	caller   hearken.Caller
	audioURL func(session, ticket string) string
	log      *slog.Logger
}

// A tool is what a model is offered, and what a call of it does.
type tool struct {
	*mcp.Tool
	set    string
	dotted string // the other name of an action tool; empty for the others
	input  *jsonschema.Schema
	output *jsonschema.Schema // of all that a result holds; nil for text alone
	// bind reads the arguments of a call and returns what it does.
	bind func(arguments json.RawMessage) (func(context.Context, *toolContext) (any, error), error)
	// bindAction replaces bind for action tools, which read the whole call and
	// make the whole result.
	bindAction func(arguments json.RawMessage) (mcpHandler, error)
}

// An mcpHandler deals with a whole call.
type mcpHandler func(context.Context, *toolContext, *mcp.CallToolRequest) (*mcp.CallToolResult, error)

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
		getActionStatus(),
		cancelAction(),
	}
})

// An effect is what a call does to the world, in terms of tool annotations.
type effect struct {
	readOnly, destructive, idempotent, openWorld bool
}

// define makes a tool of a function. In and Out give the schemas. The function
// gets arguments that comply with In's schema.
func define[In, Out any](name, title, description string, e effect, run func(context.Context, *toolContext, In) (Out, error)) *tool {
	in := newArguments[In](name)
	t := newTool(name, title, description, e, in.schema)
	t.output = schemaOf[Out]()
	t.OutputSchema = outlineOf(t.output)
	t.bind = func(arguments json.RawMessage) (func(context.Context, *toolContext) (any, error), error) {
		args, err := in.read(arguments)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, tc *toolContext) (any, error) { return run(ctx, tc, args) }, nil
	}
	return t
}

func newTool(name, title, description string, e effect, input *jsonschema.Schema) *tool {
	annotations := &mcp.ToolAnnotations{ReadOnlyHint: e.readOnly, IdempotentHint: e.idempotent || e.readOnly, OpenWorldHint: &e.openWorld}
	if !e.readOnly { // a tool that only reads destroys nothing
		annotations.DestructiveHint = &e.destructive
	}
	return &tool{
		Tool:  &mcp.Tool{Name: name, Title: title, Description: description, InputSchema: input, Annotations: annotations},
		set:   Transcription,
		input: input,
	}
}

// handler is what the SDK calls. [renderResults] writes the text of a result.
func (t *tool) handler(tc *toolContext) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (res *mcp.CallToolResult, err error) {
		defer func() {
			if v := recover(); v != nil {
				// The value may hold transcript text; its type does not.
				tc.log.Error("tool panicked", "tool", t.Name, "type", fmt.Sprintf("%T", v), "stack", string(debug.Stack()))
				res, err = nil, internalError()
			}
		}()
		if t.bindAction != nil {
			call, err := t.bindAction(req.Params.Arguments)
			if err != nil {
				return tc.actionError(ctx, t.Name, "", err)
			}
			return call(ctx, tc, req)
		}
		failure := tc.failure
		if t.set == Scribe {
			failure = tc.scribeFailure
		}
		call, err := t.bind(req.Params.Arguments)
		if err != nil {
			return failure(ctx, t.Name, err)
		}
		out, err := call(withProgress(ctx, req), tc)
		if err != nil {
			return failure(ctx, t.Name, err)
		}
		if text, ok := out.(toonText); ok {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}}, nil
		}
		data, err := compactJSON(out)
		if err != nil {
			return tc.failure(ctx, t.Name, fmt.Errorf("encode result: %w", err))
		}
		return &mcp.CallToolResult{StructuredContent: json.RawMessage(data)}, nil
	}
}

// compactJSON encodes a value on one line, with <, > and & as they are.
func compactJSON(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), err
}

// parseSessionID checks a session's id as a caller wrote it. Some systems write
// UUIDs in upper case.
func parseSessionID(id string) (string, error) {
	lower := strings.ToLower(id)
	if !hearken.ValidID(lower) {
		return "", hearken.Errorf(hearken.SessionNotFound, "%q is not a session ID.", safetext.Clip(id, 64)).WithTry("list_sessions")
	}
	return lower, nil
}
