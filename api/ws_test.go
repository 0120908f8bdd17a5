package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// dial opens a WebSocket with headers given as "Name: value".
func (h *hub) dial(t testing.TB, url string, protocols []string, headers ...string) (*websocket.Conn, *http.Response, error) {
	t.Helper()
	header := http.Header{}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		header.Add(name, value)
	}
	opts := &websocket.DialOptions{HTTPClient: h.client, HTTPHeader: header, Subprotocols: protocols, Host: header.Get("Host")}
	c, res, err := websocket.Dial(t.Context(), url, opts)
	if c != nil {
		t.Cleanup(func() { c.CloseNow() })
	}
	return c, res, err
}

func mustDial(t testing.TB, h *hub, url, secret string) *websocket.Conn {
	t.Helper()
	c, _, err := h.dial(t, url, nil, "Authorization: Bearer "+secret)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func roundTrip(t testing.TB, c *websocket.Conn, message string) answer {
	t.Helper()
	if err := c.Write(t.Context(), websocket.MessageText, []byte(message)); err != nil {
		t.Fatal(err)
	}
	return receive(t, c)
}

func receive(t testing.TB, c *websocket.Conn) answer {
	t.Helper()
	_, b, err := c.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(b))
}

// wsURLs are the addresses at which MCP over WebSocket is spoken.
func (h *hub) wsURLs() []string {
	return []string{h.WSURL(), h.WSURL() + "/", h.WSURL() + "/mcp", "ws" + strings.TrimPrefix(h.URL(), "http") + "/mcp"}
}

func TestWS_BareCall(t *testing.T) {
	h := start(t)
	id, secret := h.keys.add()
	for _, url := range h.wsURLs() {
		c := mustDial(t, h, url, secret)
		if got := roundTrip(t, c, callIt); got.text() != id+"/ws:hi" || got.ID != "req_123" {
			t.Errorf("%s: %+v", url, got)
		}
		if got := roundTrip(t, c, listIt); len(got.Result.Tools) != 2 {
			t.Errorf("%s: %+v", url, got)
		}
		c.Close(websocket.StatusNormalClosure, "")
	}
}

func TestWS_NoGoodKey(t *testing.T) {
	h := start(t)
	_, gone := h.keys.add()
	h.keys.revoke(h.keys.keys[0].ID)
	for _, url := range h.wsURLs() {
		for _, auth := range []string{"X-None: 1", "Authorization: Bearer hk_wrong", "Authorization: Bearer " + gone} {
			h.API.guesses.addrs = newGuessLimiter().addrs
			c, _, err := h.dial(t, url, []string{"mcp"}, auth)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Write(t.Context(), websocket.MessageText, []byte(callIt)); err != nil {
				t.Fatal(err)
			}
			_, b, err := c.Read(t.Context())
			if want := `{"jsonrpc":"2.0","id":"req_123","error":{"code":401,"message":"Invalid API key"}}`; err != nil || string(b) != want {
				t.Errorf("%v: %s, want %s", err, b, want)
			}
			if _, _, err := c.Read(t.Context()); websocket.CloseStatus(err) != 4401 {
				t.Errorf("closed with %v", err)
			}
		}
	}
	if len(h.callers) != 0 {
		t.Error("a client without a key reached the server")
	}
}

func TestWS_StrangersAreBounded(t *testing.T) {
	h := start(t, func(c *Config) { c.Limits.Rejections = 2; c.Limits.RejectionRead = time.Hour })
	for range 2 {
		if _, _, err := h.dial(t, h.WSURL(), nil); err != nil {
			t.Fatal(err)
		}
	}
	_, res, err := h.dial(t, h.WSURL(), nil)
	if err == nil || res == nil || res.StatusCode != http.StatusUnauthorized {
		t.Errorf("one too many: %v, %v", res, err)
	}
	_, secret := h.keys.add()
	if got := roundTrip(t, mustDial(t, h, h.WSURL(), secret), callIt); got.Error != nil {
		t.Errorf("a good key: %+v", got)
	}
}

func TestWS_StrangerThatSaysNothing(t *testing.T) {
	h := start(t, func(c *Config) { c.Limits.RejectionRead = time.Millisecond })
	c, _, err := h.dial(t, h.WSURL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Read(t.Context()); err == nil {
		t.Error("the client without a key got an answer")
	}
}

func TestWS_StrangerThatSaysTooMuch(t *testing.T) {
	h := start(t)
	c, _, err := h.dial(t, h.WSURL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Write(t.Context(), websocket.MessageText, []byte(`{"jsonrpc":"2.0","id":1,"method":"`+strings.Repeat("x", rejectionBytes)+`"}`))
	if _, b, err := c.Read(t.Context()); err == nil {
		t.Errorf("answered %.100s", b)
	}
}

func TestWS_HostAndOrigin(t *testing.T) {
	h := start(t)
	_, secret := h.keys.add()
	for _, url := range h.wsURLs() {
		for _, header := range []string{"Host: evil.example", "Origin: https://evil.example", "Origin: null", "Sec-Fetch-Site: cross-site"} {
			for _, auth := range []string{"Authorization: Bearer " + secret, "X-None: 1"} {
				_, res, err := h.dial(t, url, nil, header, auth)
				if err == nil || res == nil || res.StatusCode != http.StatusForbidden {
					t.Errorf("%s %s: %v, %v", url, header, res, err)
				}
			}
		}
	}
}

// TestWS_Browser: pages cannot set headers on a WebSocket, so the key comes as
// a subprotocol, and Chrome expects one of those that it offered.
func TestWS_Browser(t *testing.T) {
	h := start(t)
	id, secret := h.keys.add()
	for _, tt := range []struct {
		offered  []string
		selected string
	}{
		{[]string{"bearer", secret}, "bearer"},
		{[]string{"mcp", "bearer", secret}, "mcp"},
		{[]string{"bearer", secret, "mcp"}, "mcp"},
	} {
		c, res, err := h.dial(t, h.WSURL(), tt.offered, "Origin: http"+strings.TrimPrefix(h.WSURL(), "ws"))
		if err != nil {
			t.Fatal(err)
		}
		if c.Subprotocol() != tt.selected || strings.Contains(res.Header.Get("Sec-WebSocket-Protocol"), secret) {
			t.Errorf("selected %q, want %q", c.Subprotocol(), tt.selected)
		}
		if got := roundTrip(t, c, callIt); got.text() != id+"/ws:hi" {
			t.Errorf("%+v", got)
		}
	}
	c, _, err := h.dial(t, h.WSURL(), []string{"bearer", "hk_wrong"})
	if err != nil {
		t.Fatal(err)
	}
	if got := roundTrip(t, c, callIt); got.Error == nil || got.Error.Code != 401 {
		t.Errorf("wrong key: %+v", got)
	}
}

func TestWS_Garbage(t *testing.T) {
	h := start(t)
	_, secret := h.keys.add()
	c := mustDial(t, h, h.WSURL(), secret)
	for _, tt := range []struct {
		message string
		code    int
		id      any
	}{
		{"hello", -32700, nil},
		{`{"jsonrpc":"1.0","id":4,"method":"tools/list"}`, -32600, 4.0},
		{"[" + listIt + "]", -32600, nil},
		{`{"jsonrpc":"2.0","id":9,"method":"tools/dance"}`, -32601, 9.0},
	} {
		if got := roundTrip(t, c, tt.message); got.Error == nil || got.Error.Code != tt.code || got.ID != tt.id {
			t.Errorf("%s: %+v %+v", tt.message, got, got.Error)
		}
	}
	if got := roundTrip(t, c, callIt); got.Error != nil {
		t.Errorf("after garbage: %+v", got.Error)
	}
}

func TestWS_FrameTooLarge(t *testing.T) {
	h := start(t, func(c *Config) { c.Limits.Body = 1 << 10 })
	_, secret := h.keys.add()
	c := mustDial(t, h, h.WSURL(), secret)
	c.Write(t.Context(), websocket.MessageText, []byte(strings.Repeat("x", 2<<10)))
	if _, _, err := c.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusMessageTooBig {
		t.Errorf("closed with %v", err)
	}
}

func TestWS_CallsAreBounded(t *testing.T) {
	h := start(t, func(c *Config) { c.Limits.InFlight = 1 })
	_, secret := h.keys.add()
	c := mustDial(t, h, h.WSURL(), secret)
	if err := c.Write(t.Context(), websocket.MessageText, []byte(callOn)); err != nil {
		t.Fatal(err)
	}
	<-h.entered
	if got := roundTrip(t, c, callIt); got.Error == nil || got.Error.Code != 429 || got.ID != "req_123" {
		t.Errorf("one too many: %+v", got)
	}
	h.release <- struct{}{}
	if got := receive(t, c); got.text() != "waited" {
		t.Errorf("the first: %+v", got)
	}
	if got := roundTrip(t, c, callIt); got.Error != nil {
		t.Errorf("afterwards: %+v", got)
	}
}

func TestWS_NotAnUpgrade(t *testing.T) {
	h := start(t)
	_, secret := h.keys.add()
	url := "http" + strings.TrimPrefix(h.WSURL(), "ws")
	if res, body := h.do(t, "POST", url+"/mcp", callIt, "Authorization: Bearer "+secret); res.StatusCode != http.StatusUpgradeRequired || !strings.Contains(body, h.URL()) {
		t.Errorf("%s: %s", res.Status, body)
	}
	if res, _ := h.do(t, "POST", url+"/mcp", callIt); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("no key: %s", res.Status)
	}
	if res, _ := h.do(t, "GET", url+"/healthz", ""); res.StatusCode != http.StatusNotFound {
		t.Errorf("a route of the other listener: %s", res.Status)
	}
}

// clientConn is the client's side of the transport.
type clientConn struct{ c *websocket.Conn }

func (w clientConn) Connect(context.Context) (mcp.Connection, error) { return w, nil }
func (w clientConn) SessionID() string                               { return "" }
func (w clientConn) Close() error                                    { return w.c.Close(websocket.StatusNormalClosure, "") }
func (w clientConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	_, b, err := w.c.Read(ctx)
	if err != nil {
		return nil, err
	}
	return jsonrpc.DecodeMessage(b)
}
func (w clientConn) Write(ctx context.Context, m jsonrpc.Message) error {
	b, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	return w.c.Write(ctx, websocket.MessageText, b)
}

func TestWS_ClientWithoutSessions(t *testing.T) {
	h := start(t)
	id, secret := h.keys.add()
	c, _, err := h.dial(t, h.WSURL(), []string{"mcp"}, "Authorization: Bearer "+secret)
	if err != nil {
		t.Fatal(err)
	}
	cs, err := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil).Connect(t.Context(), clientConn{c}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer cs.Close()
	if got := cs.InitializeResult().ProtocolVersion; got != "2026-07-28" {
		t.Errorf("version = %s", got)
	}
	res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo"})
	if err != nil {
		t.Fatal(err)
	}
	if got := res.Content[0].(*mcp.TextContent).Text; got != id+"/ws:" {
		t.Errorf("text = %q", got)
	}
}

func TestWS_ClientWithInitialize(t *testing.T) {
	h := start(t)
	id, secret := h.keys.add()
	c := mustDial(t, h, h.WSURL(), secret)
	c.Write(t.Context(), websocket.MessageText, []byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}`))
	_, b, err := c.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Result struct{ ProtocolVersion string }
	}
	if err := json.Unmarshal(b, &got); err != nil || got.Result.ProtocolVersion != "2025-11-25" {
		t.Fatalf("%v: %s", err, b)
	}
	c.Write(t.Context(), websocket.MessageText, []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	if got := roundTrip(t, c, callIt); got.text() != id+"/ws:hi" {
		t.Errorf("%+v", got)
	}
}

func TestWS_RevokedKeyEndsIt(t *testing.T) {
	h := start(t)
	id, secret := h.keys.add()
	idle := mustDial(t, h, h.WSURL(), secret)
	busy := mustDial(t, h, h.WSURL(), secret)
	if got := roundTrip(t, busy, callIt); got.Error != nil {
		t.Fatal(got)
	}
	h.keys.revoke(id)
	for name, c := range map[string]*websocket.Conn{"idle": idle, "busy": busy} {
		if _, _, err := c.Read(t.Context()); websocket.CloseStatus(err) != 4401 {
			t.Errorf("%s: closed with %v", name, err)
		}
	}
}

// A call whose key is revoked meanwhile is answered like one without a key, and
// then the connection closes.
func TestWS_RevokedMidCall(t *testing.T) {
	h := start(t)
	id, secret := h.keys.add()
	for _, url := range h.wsURLs()[:1] {
		c := mustDial(t, h, url, secret)
		for _, call := range []string{`"req_1"`, `2`} {
			if err := c.Write(t.Context(), websocket.MessageText, []byte(strings.Replace(callOn, `"id":7`, `"id":`+call, 1))); err != nil {
				t.Fatal(err)
			}
			<-h.entered
		}
		h.keys.revoke(id)
		told := map[any]bool{}
		for range 2 {
			got := receive(t, c)
			if got.Error == nil || got.Error.Code != 401 || got.Error.Message != "Invalid API key" {
				t.Errorf("%+v", got)
			}
			told[got.ID] = true
		}
		if !told["req_1"] || !told[2.0] {
			t.Errorf("answered %v", told)
		}
		if _, _, err := c.Read(t.Context()); websocket.CloseStatus(err) != 4401 {
			t.Errorf("closed with %v", err)
		}
		for range 2 {
			if cause := <-h.cancelled; cause == context.Canceled { //nolint:errorlint // as the tools compare it
				t.Error("the call was taken as cancelled by its client")
			}
		}
	}
}

// The header as clients write it, and as they should not.
func TestWS_Authorization(t *testing.T) {
	h := start(t)
	id, secret := h.keys.add()
	for _, tt := range []struct {
		headers []string
		good    bool
	}{
		{[]string{"Authorization: Bearer " + secret}, true},
		{[]string{"authorization: bearer " + secret}, true},
		{[]string{"AUTHORIZATION: BEARER " + secret}, true},
		{[]string{"Authorization: Bearer   " + secret + " "}, true},
		{[]string{"Authorization: Token " + secret}, true},
		{[]string{"Authorization: " + secret}, false},
		{[]string{"Authorization: Bearer"}, false},
		{[]string{"Authorization: Bearer " + secret + "x"}, false},
		{[]string{"Authorization: Bearer " + strings.ToUpper(secret)}, false},
		{[]string{"Authorization: Bearer " + id}, false},
		{[]string{"Authorization: Basic " + secret}, false},
		{[]string{"Authorization: Bearer " + secret, "Authorization: Bearer " + secret}, false},
		{[]string{"X-Api-Key: " + secret}, false},
		{nil, false},
	} {
		h.API.guesses.addrs = newGuessLimiter().addrs
		c, _, err := h.dial(t, h.WSURL(), nil, tt.headers...)
		if err != nil {
			t.Fatalf("%q: %v", tt.headers, err)
		}
		got := roundTrip(t, c, callIt)
		if got.ID != "req_123" || tt.good != (got.text() == id+"/ws:hi") || !tt.good && (got.Error == nil || got.Error.Code != 401 || got.Error.Message != "Invalid API key") {
			t.Errorf("%q: %+v", tt.headers, got)
		}
		c.CloseNow()
	}
}

// TestWS_HalfOpen has a client that stays connected and stops answering.
func TestWS_HalfOpen(t *testing.T) {
	h := start(t, func(c *Config) { c.Limits.Ping = 10 * time.Millisecond })
	_, secret := h.keys.add()
	c := mustDial(t, h, h.WSURL(), secret)
	// Without anybody reading, no pong goes back.
	eventually(t, "the hub gave up on it", func() bool { return h.metrics.open.Load() == 0 })
	c.CloseNow()
}
