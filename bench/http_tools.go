package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// benchHTTPTools compares the tools that clients call most with a server of the
// same SDK that only returns the same bytes.
func benchHTTPTools(b *bench) {
	counts := make([]int, 2000)
	for i := range counts {
		counts[i] = 60
	}
	dir := b.dataDir()
	ids := fillStore(b, dir, counts)
	h := b.hub(dir)
	var pages []any // of every session, so that none is read unusually often
	for _, id := range ids {
		pages = append(pages, map[string]any{"sessionId": id, "limit": 50})
	}
	calls := []struct {
		tool string
		args []any
	}{
		{"list_sessions", []any{map[string]any{}}},
		{"get_transcription", pages},
	}
	answers := map[string]json.RawMessage{}
	for _, c := range calls {
		var answer json.RawMessage
		b.check(h.Call(b.ctx, c.tool, c.args[0], &answer))
		answers[c.tool] = answer
	}
	data, err := json.Marshal(answers)
	b.check(err)
	file := filepath.Join(b.TempDir(), "answers.json")
	b.check(os.WriteFile(file, data, 0o600))
	bare, _ := b.serve("bare-sdk-server", file)

	round, rounds := pick(b, 2*time.Second, 500*time.Millisecond), pick(b, 7, 3)
	for _, version := range []string{legacy, modern} {
		for _, c := range calls {
			var ratios, p99s, rates []float64
			for range rounds {
				theirs, theirTimes := load(b, bare, version, c.tool, c.args, 32, round)
				ours, ourTimes := load(b, h.URL, version, c.tool, c.args, 32, round)
				rates = append(rates, ours)
				ratios = append(ratios, ours/theirs)
				p99s = append(p99s, ourTimes.ms(0.99)/theirTimes.ms(0.99))
			}
			name := fmt.Sprintf("`%s` (%d kB, protocol %s)", c.tool, len(answers[c.tool])>>10, version)
			b.report(name+", throughput against the bare SDK", atLeast(0.8), median(ratios), "", spread(ratios))
			b.report(name+", p99 against the bare SDK", atMost(1.5), median(p99s), "", spread(p99s))
			b.report(name+", 32 clients", noTarget, median(rates), "calls/s", spread(rates))
		}
	}
}

// serveBareSDK serves tools that answer with the bytes of a file, without a
// store and without checks.
func serveBareSDK(ctx context.Context, args []string) error {
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
		server.AddTool(&mcp.Tool{Name: name, Description: "always returns the same", InputSchema: json.RawMessage(`{"type":"object"}`)},
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
