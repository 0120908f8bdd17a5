package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
)

// A toolContext is what the tools of one caller's server work with.
type toolContext struct {
	Options
	caller  hearken.Caller
	states  *requestStates
	limiter *limiter
	closing context.Context // ends when the hub stops
}

// A tool is what a model is offered, and what a call of it does.
type tool struct {
	*mcp.Tool
	set    string
	dotted string // the other name of an action tool; empty for the others
	input  *jsonschema.Schema
	output *jsonschema.Schema // of all that a result holds; nil for text alone
	// bind reads the arguments of a call and returns what it does.
	bind func(arguments json.RawMessage) (mcpHandler, error)
	fail failFunc // answers a failed call
}

// An mcpHandler deals with a whole call.
type mcpHandler func(context.Context, *toolContext, *mcp.CallToolRequest) (*mcp.CallToolResult, error)

// A failFunc answers a call of a tool that failed with an error.
type failFunc func(tc *toolContext, ctx context.Context, tool string, err error) (*mcp.CallToolResult, error)

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
// gets arguments that comply with In's schema, and a valid SessionID if In has
// one.
func define[In, Out any](name, title, description string, e effect, run func(context.Context, *toolContext, In) (Out, error)) *tool {
	t := newTool(name, title, description, e, (*toolContext).failure,
		func(ctx context.Context, tc *toolContext, call *mcp.CallToolRequest, in In) (*mcp.CallToolResult, error) {
			if err := normalizeSessionID(&in); err != nil {
				return nil, err
			}
			out, err := run(withProgress(ctx, call), tc, in)
			if err != nil {
				return nil, err
			}
			data, err := compactJSON(out)
			if err != nil {
				return nil, fmt.Errorf("encode result: %w", err)
			}
			return &mcp.CallToolResult{StructuredContent: json.RawMessage(data)}, nil
		})
	t.output = schemaOf[Out]()
	t.OutputSchema = outlineOf(t.output)
	return t
}

// newTool makes a tool of a function that answers whole calls.
func newTool[In any](name, title, description string, e effect, fail failFunc,
	run func(context.Context, *toolContext, *mcp.CallToolRequest, In) (*mcp.CallToolResult, error)) *tool {
	in := newArguments[In](name)
	annotations := &mcp.ToolAnnotations{ReadOnlyHint: e.readOnly, IdempotentHint: e.idempotent || e.readOnly, OpenWorldHint: &e.openWorld}
	if !e.readOnly { // a tool that only reads destroys nothing
		annotations.DestructiveHint = &e.destructive
	}
	return &tool{
		Tool:  &mcp.Tool{Name: name, Title: title, Description: description, InputSchema: in.schema, Annotations: annotations},
		set:   Transcription,
		input: in.schema,
		bind: func(arguments json.RawMessage) (mcpHandler, error) {
			args, err := in.read(arguments)
			return func(ctx context.Context, tc *toolContext, call *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return run(ctx, tc, call, args)
			}, err
		},
		fail: fail,
	}
}

// handler is what the SDK calls. [renderResults] writes the text of a result.
func (t *tool) handler(tc *toolContext) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (res *mcp.CallToolResult, err error) {
		defer func() {
			if v := recover(); v != nil {
				// The value may hold transcript text; its type does not.
				tc.Log.Error("tool panicked", "tool", t.Name, "type", fmt.Sprintf("%T", v), "stack", string(debug.Stack()))
				res, err = nil, internalError()
			}
		}()
		call, err := t.bind(req.Params.Arguments)
		if err == nil {
			res, err = call(ctx, tc, req)
		}
		if _, final := errors.AsType[*jsonrpc.Error](err); err == nil || final {
			return res, err
		}
		return t.fail(tc, ctx, t.Name, err)
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

type progressKey struct{}

// withProgress lets a call report progress to its client, if the client asked
// for it.
func withProgress(ctx context.Context, req *mcp.CallToolRequest) context.Context {
	if req.Session == nil || req.Params.GetProgressToken() == nil {
		return ctx
	}
	return context.WithValue(ctx, progressKey{}, req)
}

// reportProgress tells a waiting client how far its call is.
func reportProgress(ctx context.Context, done, total float64, message string) {
	req, ok := ctx.Value(progressKey{}).(*mcp.CallToolRequest)
	if !ok {
		return
	}
	// A client that cannot be reached notices when the call returns.
	_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
		ProgressToken: req.Params.GetProgressToken(), Progress: done, Total: total, Message: message,
	})
}
