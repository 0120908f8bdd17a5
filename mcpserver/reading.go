package mcpserver

import (
	"context"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// methodsWithoutText are the methods whose results have no transcript text. Any
// other method counts as reading.
var methodsWithoutText = []string{
	"initialize", "server/discover", ping, "tools/list", "prompts/list", "resources/list", "resources/templates/list",
	"resources/subscribe", "resources/unsubscribe", "logging/setLevel",
}

// toolsWithoutText are the tools whose results have no transcript text. The tools
// that act have none either.
var toolsWithoutText = []string{
	"start_transcription", "stop_transcription", "get_session_status", "retranscribe_session",
	"save_note", "forget_recent", "delete_session",
	"pscribe_start", "pscribe_stop", "pscribe_status", "pscribe_new",
}

// noteReading is middleware that reports transcript text before it is returned:
// grants do not apply to whoever has just read what people said.
func (tc *toolContext) noteReading(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		if err == nil && tc.OnRead != nil && mayHaveText(method, req) {
			tc.OnRead(tc.caller.Principal)
		}
		return res, err
	}
}

// mayHaveText reports whether the result of a request may have transcript text.
func mayHaveText(method string, req mcp.Request) bool {
	if p, ok := req.GetParams().(*mcp.CallToolParamsRaw); method == callTool && ok && p != nil {
		return !slices.Contains(toolsWithoutText, p.Name) && actionTools()[p.Name] == nil
	}
	return !slices.Contains(methodsWithoutText, method) && !strings.HasPrefix(method, "notifications/")
}
