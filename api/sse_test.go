package api

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestSSE_Client(t *testing.T) {
	h := start(t)
	cs, err := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil).Connect(t.Context(), &mcp.SSEClientTransport{Endpoint: h.URL() + "/sse", HTTPClient: h.client}, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "old"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := res.Content[0].(*mcp.TextContent).Text; got != "loopback/sse:old" {
		t.Errorf("text = %q", got)
	}
	cs.Close()
	eventually(t, "the session ended", func() bool {
		h.sse.mu.Lock()
		defer h.sse.mu.Unlock()
		return len(h.sse.byID) == 0
	})
}

// listenSSE opens the stream and returns the address for its messages.
func (h *hub) listenSSE(t *testing.T, headers ...string) (endpoint string, res *http.Response) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.URL()+"/sse", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Add(name, value)
	}
	res, err = h.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	in := bufio.NewScanner(res.Body)
	for in.Scan() {
		if data, ok := strings.CutPrefix(in.Text(), "data: "); ok {
			return data, res
		}
	}
	t.Fatalf("no endpoint: %s", res.Status)
	return "", nil
}

func TestSSE_SessionBelongsToOnePrincipal(t *testing.T) {
	h := start(t)
	_, alice := h.keys.add()
	_, bob := h.keys.add()
	endpoint, res := h.listenSSE(t, "Authorization: Bearer "+alice)
	if got := res.Header.Get("Cache-Control"); got != "private, no-store" {
		t.Errorf("Cache-Control = %q", got)
	}
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	if res, _ := h.do(t, "POST", endpoint, ping, "Authorization: Bearer "+bob); res.StatusCode != http.StatusNotFound {
		t.Errorf("another key: %s", res.Status)
	}
	if res, _ := h.do(t, "POST", endpoint, ping); res.StatusCode != http.StatusNotFound {
		t.Errorf("no key: %s", res.Status)
	}
	if res, body := h.do(t, "POST", endpoint, ping, "Authorization: Bearer "+alice); res.StatusCode != http.StatusAccepted {
		t.Errorf("its own key: %s: %s", res.Status, body)
	}
	if res, body := h.do(t, "POST", endpoint, "garbage", "Authorization: Bearer "+alice); parse(t, body).Error.Code != -32700 {
		t.Errorf("garbage: %s: %s", res.Status, body)
	}
	if res, body := h.do(t, "PUT", endpoint, ping); res.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("PUT: %s: %s", res.Status, body)
	}
}

func TestSSE_RevokedKeyEndsIt(t *testing.T) {
	h := start(t)
	id, secret := h.keys.add()
	_, res := h.listenSSE(t, "Authorization: Bearer "+secret)
	h.keys.revoke(id)
	if n, err := res.Body.Read(make([]byte, 100)); err == nil {
		t.Errorf("%d bytes more", n)
	}
}
