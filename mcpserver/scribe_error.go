package mcpserver

import (
	"context"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
)

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
	e, ok := errors.AsType[*hearken.Error](err)
	switch {
	case !ok && ctx.Err() != nil: // nobody is waiting for the answer
		e = hearken.Errorf(hearken.Busy, "The call was cancelled.")
	case !ok:
		tc.log.Error("tool failed", "tool", tool, "error", err)
		e = hearken.Errorf("internal", "%s", internalMessage)
	}
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
