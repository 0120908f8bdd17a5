package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
)

// ErrorMeta is the key in the _meta of a failed tool result under which
// programs find its parts.
const ErrorMeta = "hearken/error"

// internal is the code of failures that no caller can do anything about.
const internal hearken.Code = "internal"

const internalMessage = "Something went wrong inside the hub; its log says what."

var errCancelled = hearken.Errorf(hearken.Busy, "The call was cancelled.")

// errorForCaller returns an error as callers may see it. It logs an internal
// one, unless the call was cancelled, which explains it.
func (tc *toolContext) errorForCaller(ctx context.Context, tool string, err error) *hearken.Error {
	if e, ok := errors.AsType[*hearken.Error](err); ok {
		return e
	}
	if ctx.Err() != nil {
		return errCancelled
	}
	tc.Log.Error("tool failed", "tool", tool, "error", err)
	return hearken.Errorf(internal, "%s", internalMessage)
}

// failure is the answer to a failed call.
//
// What the domain refuses (no such session, no key for the engine) is a
// JSON-RPC error with its own number. Invalid arguments are a tool result with
// isError instead, as the protocol demands since 2025-11-25: clients show such
// results to the model, which can then correct itself, but not JSON-RPC's
// -32602.
func (tc *toolContext) failure(ctx context.Context, tool string, err error) (*mcp.CallToolResult, error) {
	e := tc.errorForCaller(ctx, tool, err)
	if e.Code != hearken.Invalid {
		return nil, rpcFailure(e)
	}
	res := &mcp.CallToolResult{Meta: errorMeta(e)}
	res.SetError(e)
	return res, nil
}

func errorMeta(e *hearken.Error) mcp.Meta {
	return mcp.Meta{ErrorMeta: e}
}

// rpcFailure is a failure as a JSON-RPC error.
func rpcFailure(e *hearken.Error) *jsonrpc.Error {
	data, err := json.Marshal(e)
	if err != nil || e.Code == internal {
		return internalError()
	}
	message := e.Error()
	if e.Code == hearken.Unauthorized { // the contract has exactly this message
		message = e.Message
	}
	return &jsonrpc.Error{Code: e.Code.RPC(), Message: message, Data: data}
}

func internalError() *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: internalMessage}
}

// scribeCodes are the names that agents know from the pscribe server.
var scribeCodes = map[hearken.Code]string{
	hearken.Invalid:                  "INVALID_PARAMS",
	hearken.SessionNotFound:          "NO_SESSION",
	hearken.SessionAlreadyStopped:    "NOT_RUNNING",
	hearken.ProviderConnectionFailed: "COMMAND_FAILED",
	hearken.Forbidden:                "PERMISSION_DENIED",
}

// scribeFailure is the result of a failed call of a scribe tool: text that the
// model reads, with a code in front and what to try at the end.
func (tc *toolContext) scribeFailure(ctx context.Context, tool string, err error) (*mcp.CallToolResult, error) {
	e := tc.errorForCaller(ctx, tool, err)
	code, known := scribeCodes[e.Code]
	if !known {
		code = strings.ToUpper(string(e.Code))
	}
	return &mcp.CallToolResult{
		Meta:    errorMeta(e),
		Content: []mcp.Content{&mcp.TextContent{Text: "[" + code + "] " + e.Error()}},
		IsError: true,
	}, nil
}
