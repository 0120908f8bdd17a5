package mcpserver

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
)

// ErrorMeta is the key in the _meta of a failed tool result under which
// programs find its parts.
const ErrorMeta = "hearken/error"

// failure is the answer to a failed call.
//
// What the domain refuses (no such session, no key for the engine) is a
// JSON-RPC error with its own number. Invalid arguments are a tool result with
// isError instead, as the protocol demands since 2025-11-25: clients show such
// results to the model, which can then correct itself, but not JSON-RPC's
// -32602.
func (tc *toolContext) failure(ctx context.Context, tool string, err error) (*mcp.CallToolResult, error) {
	e, ok := errors.AsType[*hearken.Error](err)
	switch {
	case ok && e.Code == hearken.Invalid:
		res := &mcp.CallToolResult{Meta: errorMeta(e)}
		res.SetError(e)
		return res, nil
	case ok:
		return nil, rpcFailure(e)
	case ctx.Err() != nil: // nobody is waiting for the answer
		return nil, &jsonrpc.Error{Code: hearken.Code("").RPC(), Message: "The call was cancelled."}
	}
	tc.log.Error("tool failed", "tool", tool, "error", err)
	return nil, internalError()
}

func errorMeta(e *hearken.Error) mcp.Meta {
	return mcp.Meta{ErrorMeta: e}
}

// rpcFailure is a failure as a JSON-RPC error.
func rpcFailure(e *hearken.Error) *jsonrpc.Error {
	data, err := json.Marshal(e)
	if err != nil {
		return internalError()
	}
	message := e.Error()
	if e.Code == hearken.Unauthorized { // the contract has exactly this message
		message = e.Message
	}
	return &jsonrpc.Error{Code: e.Code.RPC(), Message: message, Data: data}
}

// internalMessage is about a failure that no caller can do anything about.
const internalMessage = "Something went wrong inside the hub; its log says what."

func internalError() *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: internalMessage}
}
