package api

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestMCP_BareCall(t *testing.T) {
	h := start(t)
	res, body := h.do(t, "POST", "/mcp", listIt, asCurl, anyType)
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("%s %q: %s", res.Status, res.Header.Get("Content-Type"), body)
	}
	if got := parse(t, body); len(got.Result.Tools) != 2 || got.ID != 1.0 {
		t.Errorf("answer = %s", body)
	}
	if got := res.Header.Get("Cache-Control"); got != "private, no-store" {
		t.Errorf("Cache-Control = %q", got)
	}
	if res.Header.Get("Mcp-Session-Id") != "" {
		t.Error("a bare call got a session")
	}
	_, body = h.do(t, "POST", "/mcp", callIt)
	if got := parse(t, body); got.text() != "loopback/http:hi" || got.ID != "req_123" {
		t.Errorf("answer = %s", body)
	}
}

func TestMCP_Curl(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	h := start(t)
	out, err := exec.CommandContext(t.Context(), curl, "-sS", "-d", listIt, h.URL()+"/mcp").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := parse(t, string(out)); len(got.Result.Tools) != 2 {
		t.Errorf("answer = %s", out)
	}
}

func TestMCP_Versions(t *testing.T) {
	h := start(t)
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		t.Run(version, func(t *testing.T) {
			init := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, version)
			both := "Accept: application/json, text/event-stream"
			json := "Content-Type: application/json"
			res, body := h.do(t, "POST", "/mcp", init, both, json)
			id := res.Header.Get("Mcp-Session-Id")
			if id == "" || !strings.Contains(body, version) {
				t.Fatalf("%s: %s", res.Status, body)
			}
			if res.Header.Get("Cache-Control") != "private, no-store" {
				t.Errorf("Cache-Control = %q", res.Header.Get("Cache-Control"))
			}
			with := []string{both, json, "Mcp-Session-Id: " + id}
			if version >= "2025-06-18" {
				with = append(with, "Mcp-Protocol-Version: "+version)
			}
			if res, body := h.do(t, "POST", "/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, with...); res.StatusCode != http.StatusAccepted {
				t.Fatalf("%s: %s", res.Status, body)
			}
			if _, body := h.do(t, "POST", "/mcp", callIt, with...); !strings.Contains(body, "loopback/http:hi") {
				t.Errorf("call: %s", body)
			}
			batch := "[" + listIt + "," + callIt + "]"
			res, body = h.do(t, "POST", "/mcp", batch, with...)
			if allowed := version < "2025-06-18"; allowed != (res.StatusCode == http.StatusOK) {
				t.Errorf("batch: %s: %s", res.Status, body)
			} else if !allowed && parse(t, body).Error.Code != -32600 {
				t.Errorf("batch: %s", body)
			}
			if res, _ := h.do(t, "DELETE", "/mcp", "", with...); res.StatusCode != http.StatusNoContent {
				t.Errorf("delete: %s", res.Status)
			}
			if res, body := h.do(t, "POST", "/mcp", callIt, with...); res.StatusCode != http.StatusNotFound || parse(t, body).Error == nil {
				t.Errorf("after delete: %s: %s", res.Status, body)
			}
		})
	}
}

// TestMCP_Client uses the SDK's own client, which speaks the newest version, and
// then a client that insists on sessions.
func TestMCP_Client(t *testing.T) {
	h := start(t)
	updated := make(chan string, 1)
	client := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, &mcp.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { updated <- r.Params.URI },
	})
	cs, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: h.URL() + "/mcp", HTTPClient: h.client}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer cs.Close()
	if got := cs.InitializeResult().ProtocolVersion; got != "2026-07-28" {
		t.Errorf("version = %s", got)
	}
	res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "new"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := res.Content[0].(*mcp.TextContent).Text; got != "loopback/http:new" {
		t.Errorf("text = %q", got)
	}
	if _, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "none"}); err == nil {
		t.Error("an unknown tool was called")
	}
}

func TestMCP_GarbageIsAnswered(t *testing.T) {
	h := start(t)
	tests := []struct {
		name, body string
		status     int
		code       int
		id         any
	}{
		{"NotJSON", "hello", 400, -32700, nil},
		{"Truncated", `{"jsonrpc":"2.0","id":1,`, 400, -32700, nil},
		{"Binary", "\x00\xff\xfe", 400, -32700, nil},
		{"Empty", "", 400, -32700, nil},
		{"WrongVersion", `{"jsonrpc":"1.0","id":5,"method":"tools/list"}`, 400, -32600, 5.0},
		{"NoMethod", `{"jsonrpc":"2.0"}`, 400, -32600, nil},
		{"Number", "42", 400, -32600, nil},
		{"EmptyBatch", "[]", 400, -32600, nil},
		{"UnknownMethod", `{"jsonrpc":"2.0","id":"a","method":"tools/dance"}`, 200, -32601, "a"},
		{"MissingParams", `{"jsonrpc":"2.0","id":3,"method":"tools/call"}`, 400, -32600, 3.0},
		{"HugeBatch", "[" + strings.Repeat(listIt+",", 64) + listIt + "]", 400, -32600, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res, body := h.do(t, "POST", "/mcp", tt.body, asCurl, anyType)
			got := parse(t, body)
			if res.StatusCode != tt.status || got.Error == nil || got.Error.Code != tt.code || got.ID != tt.id {
				t.Errorf("%s: %s", res.Status, body)
			}
			if ct := res.Header.Get("Content-Type"); ct != "application/json" {
				t.Errorf("Content-Type = %q", ct)
			}
		})
	}
}

func TestMCP_BareBatch(t *testing.T) {
	h := start(t)
	res, body := h.do(t, "POST", "/mcp", "["+listIt+","+callIt+"]", asCurl, anyType)
	if res.StatusCode != http.StatusOK || !strings.HasPrefix(body, "[") || !strings.Contains(body, "loopback/http:hi") {
		t.Errorf("%s: %s", res.Status, body)
	}
}

// TestMCP_JSONOnly has a client that accepts no events: it gets no session and
// needs none.
func TestMCP_JSONOnly(t *testing.T) {
	h := start(t)
	init := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	res, body := h.do(t, "POST", "/mcp", init, "Accept: application/json", "Content-Type: application/json")
	if res.StatusCode != http.StatusOK || res.Header.Get("Mcp-Session-Id") != "" || res.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("%s: %s", res.Status, body)
	}
	if parse(t, body).Error != nil {
		t.Fatal(body)
	}
	_, body = h.do(t, "POST", "/mcp", callIt, "Accept: application/json", "Content-Type: application/json", "Mcp-Protocol-Version: 2025-06-18")
	if parse(t, body).text() != "loopback/http:hi" {
		t.Error(body)
	}
}

func TestMCP_SessionBelongsToOnePrincipal(t *testing.T) {
	h := start(t)
	_, alice := h.keys.add()
	_, bob := h.keys.add()
	id := h.session(t, alice)
	for who, auth := range map[string]string{"another key": "Authorization: Bearer " + bob, "no key": "X-None: 1"} {
		res, body := h.do(t, "POST", "/mcp", callIt, "Accept: application/json, text/event-stream", "Content-Type: application/json", "Mcp-Session-Id: "+id, auth)
		if res.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s: %s", who, res.Status, body)
		}
		if res, _ := h.do(t, "DELETE", "/mcp", "", "Mcp-Session-Id: "+id, auth); res.StatusCode != http.StatusNotFound {
			t.Errorf("%s may end the session: %s", who, res.Status)
		}
	}
	if res, _ := h.do(t, "DELETE", "/mcp", "", "Mcp-Session-Id: "+id, "Authorization: Bearer "+alice); res.StatusCode != http.StatusNoContent {
		t.Errorf("its own key: %s", res.Status)
	}
}

// session begins a session with a key, or without if it is empty.
func (h *hub) session(t testing.TB, secret string) string {
	t.Helper()
	res := h.initialize(t, secret)
	id := res.Header.Get("Mcp-Session-Id")
	if id == "" {
		t.Fatalf("no session: %s", res.Status)
	}
	return id
}

func (h *hub) initialize(t testing.TB, secret string) *http.Response {
	t.Helper()
	headers := []string{"Accept: application/json, text/event-stream", "Content-Type: application/json"}
	if secret != "" {
		headers = append(headers, "Authorization: Bearer "+secret)
	}
	res, _ := h.do(t, "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, headers...)
	return res
}

func TestMCP_SessionsAreBounded(t *testing.T) {
	h := start(t, func(c *Config) { c.Limits.Sessions = 3 })
	first := h.session(t, "")
	for range 3 {
		h.session(t, "")
	}
	headers := []string{"Accept: application/json, text/event-stream", "Content-Type: application/json", "Mcp-Session-Id: " + first}
	if res, _ := h.do(t, "POST", "/mcp", callIt, headers...); res.StatusCode != http.StatusNotFound {
		t.Errorf("the session that was idle the longest is still there: %s", res.Status)
	}
	if n := len(h.mcp.sessions.all()); n != 3 {
		t.Errorf("%d sessions", n)
	}
	// Sessions that are in use are not ended for others.
	for _, s := range h.mcp.sessions.all() {
		s.busy.Add(1)
	}
	if res := h.initialize(t, ""); res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" {
		t.Errorf("one too many: %s", res.Status)
	}
	for _, s := range h.mcp.sessions.all() {
		s.busy.Add(-1)
	}
}

func TestMCP_IdleSessionsEnd(t *testing.T) {
	h := start(t, func(c *Config) { c.Limits.SessionIdle = 1 })
	h.initialize(t, "")
	eventually(t, "the session ended", func() bool { return len(h.mcp.sessions.all()) == 0 })
}

// TestMCP_Resume loses the connection during a call and gets the answer on the
// next one.
func TestMCP_Resume(t *testing.T) {
	h := start(t)
	session := h.session(t, "")
	with := []string{"Accept: application/json, text/event-stream", "Content-Type: application/json", "Mcp-Session-Id: " + session, "Mcp-Protocol-Version: 2025-11-25"}
	res := h.open(t, "POST", callOn, with...)
	<-h.entered
	last := ""
	for in := bufio.NewScanner(res.Body); last == "" && in.Scan(); {
		if id, ok := strings.CutPrefix(in.Text(), "id: "); ok {
			last = id
		}
	}
	res.Body.Close()
	close(h.release)
	eventually(t, "the answer is there to be taken", func() bool {
		_, body := h.do(t, "GET", "/mcp", "", append(with, "Last-Event-ID: "+last)...)
		return strings.Contains(body, "waited")
	})
}

// TestMCP_CancelledByLeaving: a call of the newest version ends when its client
// disconnects, with a cause that differs from a cancelled call.
func TestMCP_CancelledByLeaving(t *testing.T) {
	h := start(t)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}}}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL()+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Accept": "application/json, text/event-stream", "Content-Type": "application/json", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "wait"} {
		req.Header.Set(name, value)
	}
	left := make(chan struct{})
	go func() {
		defer close(left)
		if res, err := h.client.Do(req); err == nil {
			io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
	}()
	<-h.entered
	leave()
	if cause := <-h.cancelled; !errors.Is(cause, errDisconnected) {
		t.Errorf("ended because %v", cause)
	}
	<-left
}
