package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/hearken-dev/hearken/test/hubtest"
)

// The two generations of the protocol, which servers handle differently.
const (
	legacy = "2025-11-25"
	modern = "2026-07-28"
)

// A client calls tools of one server over one connection.
type client struct {
	url     string
	version string
	session string
	http    *http.Client
}

func newClient(b *bench, url, version string) *client {
	c := &client{url: url + "/mcp", version: version, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}}}
	if version < modern {
		init := fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`, version)
		b.check(c.post(b.ctx, "initialize", "", []byte(init)))
		b.check(c.post(b.ctx, "notifications/initialized", "", []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)))
	}
	return c
}

// request is the body of a tool call in the client's generation.
func (c *client) request(tool string, args any) []byte {
	params := map[string]any{"name": tool, "arguments": args}
	if c.version >= modern {
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion":    c.version,
			"io.modelcontextprotocol/clientCapabilities": map[string]any{},
			"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "bench", "version": "1"},
		}
	}
	return hubtest.RequestWith(1, params)
}

// call calls a tool.
func (c *client) call(ctx context.Context, tool string, args any) error {
	return c.post(ctx, "tools/call", tool, c.request(tool, args))
}

func (c *client) post(ctx context.Context, method, name string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return err
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
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		return fmt.Errorf("%s: %s: %.200s", method, resp.Status, data)
	}
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		c.session = id
	}
	return nil
}

// load calls a tool with so many clients for so long, with all of the arguments
// in turn.
func load(b *bench, url, version, tool string, args []any, n int, d time.Duration) (perSecond float64, times durations) {
	clients := make([]*client, n)
	for i := range clients {
		clients[i] = newClient(b, url, version)
		defer clients[i].http.CloseIdleConnections()
	}
	bodies := make([][]byte, len(args))
	for i := range args {
		bodies[i] = clients[0].request(tool, args[i])
	}
	began := time.Now()
	var mu sync.Mutex
	var group sync.WaitGroup
	for i, c := range clients {
		group.Go(func() {
			var own durations
			for n := i * 7; time.Since(began) < d; n++ {
				t := time.Now()
				if err := c.post(b.ctx, "tools/call", tool, bodies[n%len(bodies)]); err != nil {
					b.Errorf("%s: %v", url, err)
					return
				}
				own = append(own, time.Since(t))
			}
			mu.Lock()
			defer mu.Unlock()
			times = append(times, own...)
		})
	}
	group.Wait()
	if b.Failed() {
		b.Fatalf("%s fails under load", tool)
	}
	return float64(len(times)) / time.Since(began).Seconds(), times
}
