package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// The two generations of the protocol, which take different ways through a
// server.
const (
	legacy = "2025-11-25"
	modern = "2026-07-28"
)

// A caller calls tools of one server over one connection.
type caller struct {
	url     string
	version string
	session string
	client  *http.Client
}

func newCaller(ctx context.Context, url, version string) (*caller, error) {
	c := &caller{url: url + "/mcp", version: version, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}}}
	if version >= modern {
		return c, nil
	}
	init := fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`, version)
	if _, err := c.post(ctx, "initialize", "", []byte(init)); err != nil {
		return nil, err
	}
	_, err := c.post(ctx, "notifications/initialized", "", []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	return c, err
}

// request is the body of a tool call in the caller's generation.
func (c *caller) request(tool string, args any) ([]byte, error) {
	params := map[string]any{"name": tool, "arguments": args}
	if c.version >= modern {
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion":    c.version,
			"io.modelcontextprotocol/clientCapabilities": map[string]any{},
			"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "bench", "version": "1"},
		}
	}
	return json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
}

func (c *caller) post(ctx context.Context, method, name string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if method != "initialize" {
		req.Header.Set("Mcp-Protocol-Version", c.version)
	}
	if c.version >= modern {
		req.Header.Set("Mcp-Method", method)
		req.Header.Set("Mcp-Name", name)
	} else if c.session != "" {
		req.Header.Set("Mcp-Session-Id", c.session)
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= 300 {
		return nil, fmt.Errorf("%s: %s: %.200s", method, resp.Status, data)
	}
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		c.session = id
	}
	return data, nil
}

// load calls one tool with so many clients for so long, with all of the
// arguments in turn.
func load(ctx context.Context, url, version, tool string, args []any, clients int, d time.Duration) (perSecond float64, times sample, err error) {
	var mu sync.Mutex
	var group sync.WaitGroup
	callers := make([]*caller, clients)
	for i := range callers {
		if callers[i], err = newCaller(ctx, url, version); err != nil {
			return 0, nil, err
		}
	}
	bodies := make([][]byte, len(args))
	for i := range args {
		if bodies[i], err = callers[0].request(tool, args[i]); err != nil {
			return 0, nil, err
		}
	}
	begun := time.Now()
	end := begun.Add(d)
	for i, c := range callers {
		group.Go(func() {
			var own sample
			for n := i * 7; time.Now().Before(end); n++ {
				t := time.Now()
				if _, cerr := c.post(ctx, "tools/call", tool, bodies[n%len(bodies)]); cerr != nil {
					mu.Lock()
					err = cerr
					mu.Unlock()
					return
				}
				own = append(own, time.Since(t))
			}
			mu.Lock()
			times = append(times, own...)
			mu.Unlock()
		})
	}
	group.Wait()
	for _, c := range callers {
		c.client.CloseIdleConnections()
	}
	return float64(len(times)) / time.Since(begun).Seconds(), times, err
}
