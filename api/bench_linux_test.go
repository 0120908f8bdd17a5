package api

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/hearken-dev/hearken"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// BenchmarkMCP compares this package with the SDK's handlers alone, with 32
// clients that keep their connections. The tool returns about as much as a
// page of a transcript does.
func BenchmarkMCP(b *testing.B) {
	page := strings.Repeat("What was said in this meeting. ", 300)
	server := mcp.NewServer(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "page", Description: "a page"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: page}}}, nil, nil
	})
	get := func(*http.Request) *mcp.Server { return server }
	h := prepare(b, func(c *Config) {
		c.MCP = func(hearken.Caller) *mcp.Server { return server }
		c.Log = slog.New(slog.DiscardHandler)
	})
	h.serve(b)
	_, secret := h.keys.add()
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	const call = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"page","arguments":{}}}`

	for _, bm := range []struct {
		name    string
		handler http.Handler // nil for ours
		session bool
		key     string
	}{
		{"Plain/SDK", mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}), false, ""},
		{"Plain/Hearken", nil, false, ""},
		{"Plain/HearkenKey", nil, false, secret},
		{"Session/SDK", mcp.NewStreamableHTTPHandler(get, nil), true, ""},
		{"Session/SDKResumable", mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{EventStore: mcp.NewMemoryEventStore(nil)}), true, ""},
		{"Session/Hearken", nil, true, ""},
	} {
		b.Run(bm.name, func(b *testing.B) {
			url := h.URL() + "/mcp"
			if bm.handler != nil {
				ln, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					b.Fatal(err)
				}
				s := &http.Server{Handler: bm.handler}
				go s.Serve(ln)
				defer s.Close()
				url = "http://" + ln.Addr().String() + "/mcp"
			}
			accept := "application/json"
			if bm.session || bm.handler != nil {
				accept += ", text/event-stream"
			}
			send := func(method, body, session string) (*http.Response, error) {
				req, err := http.NewRequest(method, url, bytes.NewReader([]byte(body)))
				if err != nil {
					return nil, err
				}
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("Accept", accept)
				if session != "" {
					req.Header.Set("Mcp-Session-Id", session)
					req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
				}
				if bm.key != "" {
					req.Header.Set("Authorization", "Bearer "+bm.key)
				}
				return h.client.Do(req)
			}
			b.SetParallelism(16) // times two processors
			before := cpuTime(b)
			defer func() { b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N), "cpu-ns/op") }()
			b.RunParallel(func(pb *testing.PB) {
				session := ""
				if bm.session {
					res, err := send("POST", initialize, "")
					if err != nil {
						b.Error(err)
						return
					}
					io.Copy(io.Discard, res.Body)
					res.Body.Close()
					session = res.Header.Get("Mcp-Session-Id")
					defer func() {
						if res, err := send("DELETE", "", session); err == nil {
							res.Body.Close()
						}
					}()
				}
				for pb.Next() {
					res, err := send("POST", call, session)
					if err != nil {
						b.Error(err)
						return
					}
					n, _ := io.Copy(io.Discard, res.Body)
					res.Body.Close()
					if res.StatusCode != http.StatusOK || n < int64(len(page)) {
						b.Errorf("%s: %d bytes", res.Status, n)
						return
					}
				}
			})
		})
	}
}

// cpuTime is the CPU time of client and hub together. Other work on the same
// computer disturbs it less than wall time.
func cpuTime(b *testing.B) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
