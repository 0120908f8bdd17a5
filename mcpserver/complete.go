package mcpserver

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
)

// completions is how many sessions are offered; the protocol allows 100.
const completions = 20

// complete offers the newest sessions wherever a session's id is wanted, and
// nothing elsewhere.
func (tc *toolContext) complete(ctx context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	res := &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}
	switch req.Params.Argument.Name {
	case "sessionId", "session_id", "id":
	default:
		return res, nil
	}
	sessions, err := tc.hub.Sessions(ctx, hearken.SessionFilter{Limit: 10 * completions})
	if err != nil {
		tc.log.Warn("completion failed", "error", err)
		return res, nil
	}
	prefix := strings.ToLower(req.Params.Argument.Value)
	for i := range sessions {
		if !strings.HasPrefix(sessions[i].ID, prefix) {
			continue
		}
		if len(res.Completion.Values) == completions {
			res.Completion.HasMore = true
			break
		}
		res.Completion.Values = append(res.Completion.Values, sessions[i].ID)
	}
	return res, nil
}
