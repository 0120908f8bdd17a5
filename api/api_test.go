package api

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/hearken-dev/hearken"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// keyStore is a list of keys that tests change.
type keyStore struct {
	mu   sync.Mutex
	keys []hearken.Key
	err  error
}

func (s *keyStore) Keys(context.Context) ([]hearken.Key, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]hearken.Key(nil), s.keys...), s.err
}

func (s *keyStore) add(toolsets ...string) (id, secret string) {
	key, secret := hearken.NewKey("test", time.Now(), toolsets)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = append(s.keys, key)
	return key.ID, secret
}

func (s *keyStore) revoke(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for i := range s.keys {
		if s.keys[i].ID == id {
			s.keys[i].RevokedAt = &now
		}
	}
}

// setApprover changes the first key.
func (s *keyStore) setApprover(approver string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys[0].Approver = approver
}

func (s *keyStore) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// A hub is an API that serves, with a small MCP server inside.
type hub struct {
	*API
	keys   *keyStore
	client *http.Client
	log    *lockedBuffer
	stop   func() error // ends Serve and returns its error

	mu      sync.Mutex
	callers []hearken.Caller
	entered chan struct{} // the tool "wait" has begun
	release chan struct{} // lets it end

	cancelled chan error // why the context of "wait" was cancelled
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func start(t testing.TB, change ...func(*Config)) *hub {
	t.Helper()
	h := prepare(t, change...)
	h.serve(t)
	return h
}

// prepare makes a hub that does not answer yet.
func prepare(t testing.TB, change ...func(*Config)) *hub {
	t.Helper()
	h := &hub{keys: &keyStore{}, log: &lockedBuffer{}, entered: make(chan struct{}, 100), cancelled: make(chan error, 100), release: make(chan struct{})}
	cfg := Config{
		MCP:      h.server,
		Keys:     h.keys,
		WSListen: "127.0.0.1:0",
		TLS:      TLS{Dir: t.TempDir()},
		Log:      slog.New(slog.NewTextHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, f := range change {
		f(&cfg)
	}
	a, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	h.API = a
	return h
}

func (h *hub) serve(t testing.TB) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	h.client = &http.Client{Transport: transport}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- h.API.Serve(ctx) }()
	h.stop = sync.OnceValue(func() error {
		cancel()
		defer transport.CloseIdleConnections()
		return <-served
	})
	t.Cleanup(func() {
		if err := h.stop(); err != nil {
			t.Error(err)
		}
	})
}

// server makes the MCP server of the tests: "echo" says who calls, "wait"
// waits until it is released.
func (h *hub) server(c hearken.Caller) *mcp.Server {
	h.mu.Lock()
	h.callers = append(h.callers, c)
	h.mu.Unlock()
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ServerOptions{
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	type in struct {
		Text string `json:"text,omitempty"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "says who calls"}, func(_ context.Context, _ *mcp.CallToolRequest, in in) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: c.Principal + "/" + string(c.Transport) + ":" + in.Text}}}, nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "wait", Description: "waits"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ in) (*mcp.CallToolResult, any, error) {
		h.entered <- struct{}{}
		select {
		case <-ctx.Done():
			h.cancelled <- context.Cause(ctx)
			return nil, nil, ctx.Err()
		case <-h.release:
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "waited"}}}, nil, nil
		}
	})
	s.AddResource(&mcp.Resource{URI: "speech://x", Name: "x"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "speech://x", Text: "hi"}}}, nil
	})
	return s
}

// do sends a request with headers given as "Name: value".
func (h *hub) do(t testing.TB, method, path, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	url := path
	if strings.HasPrefix(path, "/") {
		url = h.main.url("http", "") + path
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			req.Host = value
			continue
		}
		req.Header.Add(name, value)
	}
	res, err := h.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(b)
}

const (
	listIt  = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	callIt  = `{"jsonrpc":"2.0","id":"req_123","method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"}}}`
	callOn  = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"wait","arguments":{}}}`
	asCurl  = "Content-Type: application/x-www-form-urlencoded"
	anyType = "Accept: */*"
)

// answer is the part of a JSON-RPC answer that tests check.
type answer struct {
	ID     any `json:"id"`
	Result struct {
		Content []struct{ Text string } `json:"content"`
		Tools   []struct{ Name string } `json:"tools"`
	} `json:"result"`
	Error *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func parse(t testing.TB, body string) answer {
	t.Helper()
	var a answer
	if err := json.Unmarshal([]byte(body), &a); err != nil {
		t.Fatalf("not JSON: %v: %.200q", err, body)
	}
	return a
}

func (a answer) text() string {
	if len(a.Result.Content) == 0 {
		return ""
	}
	return a.Result.Content[0].Text
}

// eventually polls until a condition holds.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-deadline:
			t.Fatal("never happened: " + what)
		case <-tick.C:
		}
	}
}
