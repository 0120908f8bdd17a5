package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// bareCommand makes this program the server that ours is held against.
const bareCommand = "bare-sdk-server"

// serveBare serves tools that answer with the bytes they were given, and
// nothing else: no store, no guard, no checks.
func serveBare(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New("want the file with the answers")
	}
	data, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	var answers map[string]json.RawMessage
	if err := json.Unmarshal(data, &answers); err != nil {
		return err
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1"}, nil)
	for name, answer := range answers {
		server.AddTool(&mcp.Tool{Name: name, Description: "says the same thing again", InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{
					Content:           []mcp.Content{&mcp.TextContent{Text: string(answer)}},
					StructuredContent: answer,
				}, nil
			})
	}
	get := func(*http.Request) *mcp.Server { return server }
	stateful := mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{JSONResponse: true})
	stateless := mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{JSONResponse: true, Stateless: true})
	return serveLoopback(ctx, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= modern {
			stateless.ServeHTTP(w, r)
			return
		}
		stateful.ServeHTTP(w, r)
	}))
}
