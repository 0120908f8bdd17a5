package mcpserver

import (
	"context"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
)

// methodsWithoutText are the methods whose results have no transcript text. Any
// other method counts as reading.
var methodsWithoutText = []string{
	"initialize", "server/discover", ping, "tools/list", "prompts/list", "resources/list", "resources/templates/list",
	"resources/subscribe", "resources/unsubscribe", "logging/setLevel",
}

// toolsWithoutText are the tools whose results have no transcript text, and no
// note or title, in which somebody may have written it down. The tools that act
// have none either; see [toolContext.question] for what they ask.
var toolsWithoutText = []string{
	"start_transcription", "stop_transcription", "retranscribe_session", "forget_recent", "delete_session",
	"pscribe_start", "pscribe_stop", "pscribe_status", "pscribe_new",
}

// noteReading is middleware that reports transcript text before it is returned:
// grants do not apply to whoever has just read what people said.
func (tc *toolContext) noteReading(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		if err == nil && mayHaveText(method, req) {
			tc.noteRead()
		}
		return res, err
	}
}

// noteRead reports that the caller is about to get transcript text.
func (tc *toolContext) noteRead() {
	if tc.OnRead != nil {
		tc.OnRead(tc.caller.Principal)
	}
}

// question is what the user of the client is asked about an action. The client
// sees it too. So one that may not read transcripts gets none of their words,
// and for any other these words are transcript text like any other.
func (tc *toolContext) question(a *hearken.Action) string {
	key := hearken.Key{Toolsets: tc.caller.Toolsets}
	if !key.ReadsTranscripts() {
		shown := *a
		shown.Evidence = nil
		return act.Describe(&shown)
	}
	if slices.ContainsFunc(a.Evidence, func(e hearken.Evidence) bool { return e.Quote != "" }) {
		tc.noteRead()
	}
	return act.Describe(a)
}

// mayHaveText reports whether the result of a request may have transcript text.
func mayHaveText(method string, req mcp.Request) bool {
	if p, ok := req.GetParams().(*mcp.CallToolParamsRaw); method == callTool && ok && p != nil {
		return !slices.Contains(toolsWithoutText, p.Name) && actionTools()[p.Name] == nil
	}
	return !slices.Contains(methodsWithoutText, method) && !strings.HasPrefix(method, "notifications/")
}
