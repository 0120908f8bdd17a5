package mcpserver

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
)

// failureData goes with a JSON-RPC error, for programs.
type failureData struct {
	Code hearken.Code `json:"code"`
	Try  string       `json:"try,omitempty"`
}

// failure is how a failed call is answered.
//
// What the domain refuses (no such session, no key for the engine) is a
// JSON-RPC error with its own number. Arguments that are wrong are a tool
// result with isError instead: the protocol asks for that since 2025-11-25,
// because clients show such results to the model, which can then correct
// itself, and keep JSON-RPC's -32602 to themselves.
func (d *desk) failure(ctx context.Context, tool string, err error) (*mcp.CallToolResult, error) {
	e, ok := errors.AsType[*hearken.Error](err)
	switch {
	case ok && e.Code == hearken.Invalid:
		res := &mcp.CallToolResult{}
		res.SetError(e)
		return res, nil
	case ok:
		return nil, rpcFailure(e)
	case ctx.Err() != nil: // nobody is waiting for the answer
		return nil, &jsonrpc.Error{Code: hearken.Code("").RPC(), Message: "The call was cancelled."}
	}
	d.log.Error("tool failed", "tool", tool, "error", err)
	return nil, internalError()
}

// rpcFailure is a failure as a JSON-RPC error.
func rpcFailure(e *hearken.Error) *jsonrpc.Error {
	data, err := json.Marshal(failureData{e.Code, e.Try})
	if err != nil {
		return internalError()
	}
	message := e.Error()
	if e.Code == hearken.Unauthorized { // whose words are the contract's
		message = e.Message
	}
	return &jsonrpc.Error{Code: e.Code.RPC(), Message: message, Data: data}
}

// internalError answers what no caller can do anything about.
func internalError() *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "Something went wrong inside the hub; its log says what."}
}
