package mcpserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/live"
	"github.com/hearken-dev/hearken/mcpserver"
	"github.com/hearken-dev/hearken/scribe"
	"github.com/hearken-dev/hearken/store/sqlite"
	"github.com/hearken-dev/hearken/store/storetest"
	"github.com/hearken-dev/hearken/stt/stttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// secret is a word that every transcript of these tests holds and no log may.
const secret = "rhubarb"

// A testHub is a hub with a connected client.
type testHub struct {
	t       *testing.T
	hub     *live.Hub
	store   *storetest.Faulty
	engine  *stttest.Scripted // what it hears; of two sides the microphone's
	scribe  *scribe.Scribe
	capture *fakeCapture
	factory *mcpserver.Factory
	client  *mcp.ClientSession
	handler http.Handler
	outputs map[string][]*jsonschema.Resolved // by tool
}

// newTestHub opens a hub whose engine says a line every two seconds.
func newTestHub(t *testing.T, caller hearken.Caller) *testHub {
	t.Helper()
	var script []stttest.Line
	for i := range 600 {
		script = append(script, stttest.Line{Start: float64(2 * i), End: float64(2*i) + 1.5, Text: fmt.Sprintf("line %d of %s", i+1, secret)})
	}
	return newTestHubWith(t, caller, script, script)
}

// newTestHubWith opens a hub whose engine follows a script for each channel.
func newTestHubWith(t *testing.T, caller hearken.Caller, near, far []stttest.Line) *testHub {
	t.Helper()
	h := &testHub{t: t, engine: stttest.NewScripted("local", near), capture: newFakeCapture()}
	engine := twoSidedEngine{h.engine, stttest.NewScripted("local", far)}
	dir := t.TempDir()
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "hearken.db"))
	if err != nil {
		t.Fatal(err)
	}
	h.store = storetest.NewFaulty(store)
	var log syncBuffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	h.hub, err = live.Open(t.Context(), live.Config{
		Dir: dir, Store: h.store, Providers: []hearken.Provider{engine, stttest.NewScripted("other", nil)},
		DefaultLanguage: "en", Log: logger,
	})
	if err != nil {
		t.Fatal(err)
	}
	h.scribe = scribe.New(scribe.Config{Hub: h.hub, Principal: "local", Log: logger, Capture: h.capture.open})
	h.factory = mcpserver.New(mcpserver.Options{
		Hub: h.hub, Scribe: h.scribe, Version: "1.2.3", Log: logger,
		AudioURL: func(_ context.Context, session, ticket string) string {
			return "ws://127.0.0.1:1/audio/" + session + "?ticket=" + ticket
		},
	})
	h.client = connect(t, h.factory.Server(caller))
	h.handler = newHandler(h.factory.Server(caller))
	t.Cleanup(func() {
		ctx := context.Background()
		if err := h.scribe.Close(ctx); err != nil {
			t.Errorf("close scribe: %v", err)
		}
		if err := h.hub.Close(ctx); err != nil {
			t.Errorf("close hub: %v", err)
		}
		if err := store.Close(); err != nil {
			t.Errorf("close store: %v", err)
		}
		if strings.Contains(log.String(), secret) {
			t.Errorf("what was said is in the log:\n%s", log.String())
		}
	})
	h.outputs = map[string][]*jsonschema.Resolved{}
	resolve := func(tool string, s *jsonschema.Schema) {
		t.Helper()
		resolved, err := s.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		h.outputs[tool] = append(h.outputs[tool], resolved)
	}
	for name, schema := range mcpserver.OutputSchemas() {
		resolve(name, schema)
	}
	list, err := h.client.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		if tool.OutputSchema == nil {
			continue // it returns TOON, or the same as another tool
		}
		data, err := json.Marshal(tool.OutputSchema)
		if err != nil {
			t.Fatal(err)
		}
		var schema jsonschema.Schema
		if err := json.Unmarshal(data, &schema); err != nil {
			t.Fatal(err)
		}
		resolve(tool.Name, &schema)
	}
	return h
}

// connect joins a client to a server until the test ends.
func connect(t *testing.T, s *mcp.Server) *mcp.ClientSession {
	t.Helper()
	ours, theirs := mcp.NewInMemoryTransports()
	served, err := s.Connect(t.Context(), ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		served.Wait()
	})
	return client
}

// newHandler is a server's HTTP handler, for one request at a time.
func newHandler(s *mcp.Server) http.Handler {
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
}

type object = map[string]any

// try calls a tool. What succeeds is held to the tool's output schema, and its
// text to its structure.
func (h *testHub) try(tool string, args any) (*mcp.CallToolResult, object, error) {
	h.t.Helper()
	res, err := h.client.CallTool(h.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil || res.IsError {
		return res, nil, err
	}
	if h.outputs[tool] == nil {
		h.t.Errorf("%s has no output schema", tool)
	}
	for _, schema := range h.outputs[tool] {
		if err := schema.Validate(res.StructuredContent); err != nil {
			h.t.Errorf("%s: output does not match its schema: %v", tool, err)
		}
	}
	out, ok := res.StructuredContent.(object)
	if !ok || len(res.Content) != 1 {
		h.t.Fatalf("%s: unexpected result %+v", tool, res)
	}
	structure, err := json.Marshal(out)
	if err != nil {
		h.t.Fatal(err)
	}
	var text any
	if err := json.Unmarshal([]byte(res.Content[0].(*mcp.TextContent).Text), &text); err != nil {
		h.t.Fatal(err)
	}
	if again, err := json.Marshal(text); err != nil || !bytes.Equal(again, structure) {
		h.t.Errorf("%s: the text is not the structure (%v):\n%s\n%s", tool, err, again, structure)
	}
	return res, out, nil
}

// call calls a tool that must succeed and decodes what it returns.
func call[T any](h *testHub, tool string, args any) T {
	h.t.Helper()
	res, out, err := h.try(tool, args)
	if err != nil {
		h.t.Fatalf("%s: %v", tool, err)
	}
	if res.IsError {
		h.t.Fatalf("%s: %s", tool, res.Content[0].(*mcp.TextContent).Text)
	}
	data, err := json.Marshal(out)
	if err != nil {
		h.t.Fatal(err)
	}
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		h.t.Fatalf("%s: %v in %s", tool, err, data)
	}
	return v
}

// fails calls a tool that must fail: with a JSON-RPC error of the code, or for
// code 0 with a result that the model sees. It looks at the wire itself, for
// the SDK's client takes some of our codes for its own. It returns the message
// and the error's data.
func (h *testHub) fails(tool string, args any, code int64) (string, string) {
	h.t.Helper()
	answer := rawCallAt(h.t, h.handler, object{"name": tool, "arguments": args})
	var res struct {
		Error *struct {
			Code    int64
			Message string
			Data    json.RawMessage
		}
		Result struct {
			Content []struct{ Text string }
			IsError bool
		}
	}
	if err := json.Unmarshal([]byte(answer), &res); err != nil {
		h.t.Fatalf("%v: %s", err, answer)
	}
	switch {
	case code == 0 && res.Result.IsError && len(res.Result.Content) == 1:
		return res.Result.Content[0].Text, ""
	case code != 0 && res.Error != nil && res.Error.Code == code:
		return res.Error.Message, string(res.Error.Data)
	}
	h.t.Fatalf("%s %v: %s; want the error %d", tool, args, answer, code)
	return "", ""
}

// rawCall makes one bare call of a tool and returns the answer as it is on the
// wire.
func rawCall(t testing.TB, s *mcp.Server, params object) string {
	t.Helper()
	return rawCallAt(t, newHandler(s), params)
}

func rawCallAt(t testing.TB, handler http.Handler, params object) string {
	t.Helper()
	body, err := json.Marshal(object{"jsonrpc": "2.0", "id": "req_123", "method": "tools/call", "params": params})
	if err != nil {
		t.Fatal(err)
	}
	req := httptest.NewRequest(http.MethodPost, "/mcp", bytes.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	rec := httptest.NewRecorder()
	handler.ServeHTTP(rec, req)
	return rec.Body.String()
}

// speak sends so many seconds of audio to a session.
func (h *testHub) speak(id string, seconds float64) hearken.Input {
	h.t.Helper()
	in, err := h.hub.Attach(h.t.Context(), id, "local")
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(in.Detach)
	go func() {
		for range in.Events() {
		}
	}()
	if err := in.Describe("linear16", hearken.SampleRate, 1); err != nil {
		h.t.Fatal(err)
	}
	h.write(in, seconds)
	return in
}

func (h *testHub) write(in hearken.Input, seconds float64) {
	h.t.Helper()
	frame := make([]int16, hearken.SampleRate/10)
	for range int(seconds * 10) {
		if err := in.Write(frame); err != nil {
			h.t.Fatal(err)
		}
	}
}

// storeSession puts a stopped session with the given texts into the store.
func (h *testHub) storeSession(n int, texts ...string) string {
	h.t.Helper()
	start := time.Date(2026, 11, 1, 9, n, 0, 0, time.UTC)
	stop := start.Add(time.Hour)
	s := &hearken.Session{
		ID:    fmt.Sprintf("019a0000-0000-7000-8000-%012x", n),
		Title: fmt.Sprintf("Meeting %d", n), Status: hearken.Stopped, StopReason: hearken.StopRequested,
		Language: "en", Provider: "local", StartedAt: start, StoppedAt: &stop, Duration: 3600, SegmentCount: len(texts),
	}
	segments := make([]hearken.Segment, len(texts))
	for i, text := range texts {
		segments[i] = segment(i+1, text, start)
	}
	if err := h.store.Save(h.t.Context(), s, segments); err != nil {
		h.t.Fatal(err)
	}
	return s.ID
}

func segment(line int, text string, start time.Time) hearken.Segment {
	at, sure := float64(2*line), 0.987654321
	seg := hearken.Segment{
		ID: fmt.Sprintf("M0-%d", line), Line: line, Origin: hearken.Microphone, Status: hearken.Confirmed, Text: text, StartTime: at,
		EndTime: at + 1.5, Confidence: &sure, Language: "en", IsFinal: true, Timestamp: start.Add(time.Duration(at) * time.Second), Durable: true,
	}
	for i, w := range strings.Fields(text) {
		seg.Words = append(seg.Words, hearken.Word{Word: w, StartTime: at + float64(i)/10, EndTime: at + float64(i+1)/10})
	}
	return seg
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
