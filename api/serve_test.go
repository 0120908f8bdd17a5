package api

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

func (h *hub) tcp(t *testing.T) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", h.main.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(20 * time.Second))
	return c
}

func TestServe_BodyTooLarge(t *testing.T) {
	h := start(t)
	for name, header := range map[string]string{
		"Declared": "Content-Length: 67108864",
		"Chunked":  "Transfer-Encoding: chunked",
	} {
		t.Run(name, func(t *testing.T) {
			c := h.tcp(t)
			fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\n%s\r\n\r\n", header)
			if name == "Chunked" {
				chunk := fmt.Sprintf("%x\r\n%s\r\n", 1<<20, strings.Repeat("x", 1<<20))
				for range 64 { // until the hub closes the connection
					if _, err := io.WriteString(c, chunk); err != nil {
						break
					}
				}
			}
			res, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				if name == "Chunked" {
					return // the connection was cut, which is an answer too
				}
				t.Fatal(err)
			}
			defer res.Body.Close()
			body, _ := io.ReadAll(res.Body)
			if res.StatusCode != http.StatusRequestEntityTooLarge || parse(t, string(body)).Error.Code != 413 {
				t.Errorf("%s: %s", res.Status, body)
			}
		})
	}
	if len(h.callers) != 0 {
		t.Error("it got as far as the server")
	}
}

func TestServe_SlowVisitors(t *testing.T) {
	h := start(t, func(c *Config) {
		c.Limits.Header = 20 * time.Millisecond
		c.Limits.BodyRead = 20 * time.Millisecond
	})
	for name, begin := range map[string]string{
		"Nothing": "",
		"Header":  "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
		"Body":    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{",
		"Chunk":   "POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n{",
	} {
		t.Run(name, func(t *testing.T) {
			c := h.tcp(t)
			io.WriteString(c, begin)
			if _, err := io.Copy(io.Discard, c); err != nil {
				t.Errorf("the hub did not hang up: %v", err)
			}
		})
	}
}

func TestServe_IdleConnectionsEnd(t *testing.T) {
	h := start(t, func(c *Config) { c.Limits.Idle = 20 * time.Millisecond })
	c := h.tcp(t)
	io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if b, err := io.ReadAll(c); err != nil || !strings.Contains(string(b), "200 OK") {
		t.Errorf("%v: %s", err, b)
	}
}

func TestServe_HeaderTooLarge(t *testing.T) {
	h := start(t)
	c := h.tcp(t)
	go fmt.Fprintf(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Large: %s\r\n\r\n", strings.Repeat("x", 1<<20))
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil || !strings.Contains(line, "431") {
		t.Errorf("%v: %s", err, line)
	}
}

func TestServe_ConnectionsAreBounded(t *testing.T) {
	h := start(t, func(c *Config) { c.Limits.Connections = 2 })
	for range 2 {
		c := h.tcp(t)
		io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(line, "200") {
			t.Fatalf("%v: %s", err, line)
		}
		defer c.Close()
	}
	if b, err := io.ReadAll(h.tcp(t)); len(b) != 0 {
		t.Errorf("one too many got %q, %v", b, err)
	}
}

// TestServe_ReaderThatDoesNotRead: the hub must be able to stop though a client
// does not read what it writes.
func TestServe_ReaderThatDoesNotRead(t *testing.T) {
	h := start(t, func(c *Config) { c.Limits.Write = 50 * time.Millisecond })
	big := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":%q}}}`, strings.Repeat("x", 3<<20))
	c := h.tcp(t)
	c.(*net.TCPConn).SetReadBuffer(4 << 10)
	for range 4 {
		if _, err := fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", len(big), big); err != nil {
			break
		}
	}
	eventually(t, "the hub gave up on it", func() bool { return h.metrics.open.Load() == 0 })
}

func TestServe_DrainsAndEndsStreams(t *testing.T) {
	h := start(t)
	_, secret := h.keys.add()
	id := h.session(t, "")
	stream := h.open(t, "GET", "", "Mcp-Session-Id: "+id, "Accept: text/event-stream")
	_, sse := h.listenSSE(t)
	idle := mustDial(t, h, h.WSURL(), secret)
	busy := mustDial(t, h, h.WSURL(), secret)
	if err := busy.Write(t.Context(), websocket.MessageText, []byte(callOn)); err != nil {
		t.Fatal(err)
	}
	<-h.entered
	type result struct {
		body string
		err  error
	}
	answered := make(chan result, 1)
	go func() {
		res, err := h.client.Post(h.URL()+"/mcp", "application/json", strings.NewReader(callOn))
		if err != nil {
			answered <- result{err: err}
			return
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		answered <- result{string(b), err}
	}()
	<-h.entered

	stopped := make(chan error, 1)
	go func() { stopped <- h.stop() }()
	if _, _, err := idle.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("idle WebSocket closed with %v", err)
	}
	for name, res := range map[string]*http.Response{"stream": stream, "sse": sse} {
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	close(h.release) // running calls may finish
	if got := receive(t, busy); got.text() != "waited" {
		t.Errorf("call on the WebSocket: %+v", got)
	}
	if _, _, err := busy.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("busy WebSocket closed with %v", err)
	}
	if got := <-answered; got.err != nil || parse(t, got.body).text() != "waited" {
		t.Errorf("call over HTTP: %+v", got)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// open starts a request whose answer is a stream.
func (h *hub) open(t *testing.T, method, body string, headers ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, h.URL()+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Add(name, value)
	}
	res, err := h.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s", method, body, res.Status)
	}
	return res
}

func TestServe_StopsThoughSomebodyIsStuck(t *testing.T) {
	h := start(t, func(c *Config) { c.Limits.Drain = 10 * time.Millisecond })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		req, _ := http.NewRequestWithContext(ctx, http.MethodPost, h.URL()+"/mcp", strings.NewReader(callOn))
		res, err := h.client.Do(req)
		if err == nil {
			res.Body.Close()
		}
		failed <- err
	}()
	<-h.entered
	if err := h.stop(); err != nil {
		t.Error(err)
	}
	if err := <-failed; err == nil {
		t.Error("the stuck call was answered")
	}
	close(h.release)
}

func TestRevokedKeyEndsStreams(t *testing.T) {
	h := start(t)
	id, secret := h.keys.add()
	auth := "Authorization: Bearer " + secret
	session := h.session(t, secret)
	stream := h.open(t, "GET", "", "Mcp-Session-Id: "+session, "Accept: text/event-stream", auth)
	listen := h.open(t, "POST", `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["speech://x"]},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}}}`,
		"Accept: application/json, text/event-stream", "Content-Type: application/json", "Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: subscriptions/listen", auth)
	h.keys.revoke(id)
	for name, res := range map[string]*http.Response{"stream": stream, "listen": listen} {
		if _, err := io.Copy(io.Discard, res.Body); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if res, _ := h.do(t, "POST", "/mcp", callIt, auth); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("a new call: %s", res.Status)
	}
	eventually(t, "its session ended", func() bool { return len(h.mcp.sessions.all()) == 0 })
}

func TestListen_PortIsTaken(t *testing.T) {
	first, err := openPort("127.0.0.1", 0, 0, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	var log lockedBuffer
	port := int(addrPort(first.Addr()).Port())
	second, err := openPort("127.0.0.1", port, 0, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	got := int(addrPort(second.Addr()).Port())
	if got == port || !strings.Contains(log.String(), fmt.Sprintf("wanted=%d port=%d", port, got)) {
		t.Errorf("port %d: %s", got, log.String())
	}
	if _, err := openPort("192.0.2.1", 0, 0, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("listens on somebody else's address")
	}
}

func TestNew_Refuses(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"PublicURL": func(c *Config) { c.PublicURL = "speech.example.org" },
		"WSListen":  func(c *Config) { c.WSListen = "7777" },
		"Origin":    func(c *Config) { c.Origins = []string{"app.example.org"} },
		"Cert":      func(c *Config) { c.TLS.CertFile = "/nowhere/cert.pem" },
		"Keys":      func(c *Config) { c.Keys = nil },
	} {
		t.Run(name, func(t *testing.T) {
			h := &hub{}
			cfg := Config{MCP: h.server, Keys: &keyStore{}}
			change(&cfg)
			if a, err := New(cfg); err == nil {
				a.Close()
				t.Error("no error")
			}
		})
	}
}

func TestHealth(t *testing.T) {
	var broken error
	h := start(t, func(c *Config) {
		c.AuthRequired = true
		c.Ready = func(context.Context) error { return broken }
	})
	if res, body := h.do(t, "GET", "/healthz", ""); res.StatusCode != http.StatusOK || body != "ok\n" {
		t.Errorf("%s: %s", res.Status, body)
	}
	if res, body := h.do(t, "GET", "/readyz", ""); res.StatusCode != http.StatusOK || body != "ready\n" {
		t.Errorf("%s: %s", res.Status, body)
	}
	broken = errors.New("store: secret place is full")
	if res, body := h.do(t, "GET", "/readyz", ""); res.StatusCode != http.StatusServiceUnavailable || body != "not ready\n" {
		t.Errorf("%s: %s", res.Status, body)
	}
	if !strings.Contains(h.log.String(), "secret place") {
		t.Error("the log does not say why")
	}
}

func TestMetrics(t *testing.T) {
	h := start(t)
	h.do(t, "POST", "/mcp", callIt)
	h.do(t, "POST", "/mcp", callIt, "Origin: https://evil.example")
	h.session(t, "")
	_, body := h.do(t, "GET", "/metrics", "")
	for _, line := range []string{
		`hearken_http_requests_total{route="mcp",status="2xx"} 2`,
		`hearken_http_requests_total{route="mcp",status="4xx"} 1`,
		`hearken_http_refused_total{reason="forbidden"} 1`,
		`hearken_http_request_seconds_count{route="mcp"} 3`,
		`hearken_mcp_sessions 1`,
	} {
		if !strings.Contains(body, line+"\n") {
			t.Errorf("missing %s", line)
		}
	}
}

// TestOpenPort_LastPort starts a hub on the port where its clients look for it.
func TestOpenPort_LastPort(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	busy, err := openPort("127.0.0.1", 0, 0, log)
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	before, err := openPort("127.0.0.1", 0, 0, log)
	if err != nil {
		t.Fatal(err)
	}
	before.Close()
	last := int(addrPort(before.Addr()).Port())
	for _, wanted := range []int{0, int(addrPort(busy.Addr()).Port())} {
		second, err := openPort("127.0.0.1", wanted, last, log)
		if err != nil {
			t.Fatal(err)
		}
		if got := int(addrPort(second.Addr()).Port()); got != last {
			t.Errorf("wanted %d, was at %d, came back at %d", wanted, last, got)
		}
		second.Close()
	}
}
