package mcpserver

import (
	"context"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
)

// refusalCodes are the names that agents know from the pscribe server.
var refusalCodes = map[hearken.Code]string{
	hearken.Invalid:                  "INVALID_PARAMS",
	hearken.SessionNotFound:          "NO_SESSION",
	hearken.SessionAlreadyStopped:    "NOT_RUNNING",
	hearken.ProviderConnectionFailed: "COMMAND_FAILED",
	hearken.Forbidden:                "PERMISSION_DENIED",
}

// refusal is how a failed call of the scribe is answered: as text that the
// model reads, with a code in front and what to do next behind.
func (d *desk) refusal(ctx context.Context, tool string, err error) (*mcp.CallToolResult, error) {
	e, ok := errors.AsType[*hearken.Error](err)
	switch {
	case !ok && ctx.Err() != nil: // nobody is waiting for the answer
		e = hearken.Errorf(hearken.Busy, "The call was cancelled.")
	case !ok:
		d.log.Error("tool failed", "tool", tool, "error", err)
		e = hearken.Errorf("internal", "Something went wrong inside the hub; its log says what.")
	}
	code, known := refusalCodes[e.Code]
	if !known {
		code = strings.ToUpper(string(e.Code))
	}
	return &mcp.CallToolResult{
		Content: []mcp.Content{&mcp.TextContent{Text: "[" + code + "] " + e.Error()}},
		IsError: true,
	}, nil
}
