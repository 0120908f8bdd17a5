package mcpserver

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type progressKey struct{}

// withProgress lets a call tell its client how far it is, if the client asked
// to be told.
func withProgress(ctx context.Context, req *mcp.CallToolRequest) context.Context {
	if req.Session == nil || req.Params.GetProgressToken() == nil {
		return ctx
	}
	return context.WithValue(ctx, progressKey{}, req)
}

// progress tells a waiting client how far its call is.
func progress(ctx context.Context, done, total float64, message string) {
	req, ok := ctx.Value(progressKey{}).(*mcp.CallToolRequest)
	if !ok {
		return
	}
	// A client that cannot be told notices when the call returns.
	_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
		ProgressToken: req.Params.GetProgressToken(), Progress: done, Total: total, Message: message,
	})
}
