package mcpserver

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

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
