package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/mcpserver"
)

func TestFactory_KeepsServers(t *testing.T) {
	f := mcpserver.New(mcpserver.Options{})
	a := hearken.Caller{Principal: "a", Toolsets: []string{"read"}}
	first := f.Server(a)
	if f.Server(hearken.Caller{Principal: "a", Toolsets: []string{"read"}}) != first {
		t.Error("an equal caller gets another server")
	}
	for _, c := range []hearken.Caller{
		{Principal: "b", Toolsets: []string{"read"}},
		{Principal: "a"},
		{Principal: "a", Toolsets: []string{"read"}, APIKey: "k"},
		{Principal: "a", Toolsets: []string{"read"}, Language: "de"},
		{Principal: "a", Toolsets: []string{"read"}, Provider: "p"},
		{Principal: "a", Toolsets: []string{"read"}, Approver: hearken.ApproverClient},
		{Principal: "a", Toolsets: []string{"read"}, Transport: hearken.TransportWebSocket},
	} {
		if f.Server(c) == first {
			t.Errorf("%+v gets the server of %+v", c, a)
		}
	}
	// A server in use stays cached; others are dropped.
	for i := range 1000 {
		f.Server(hearken.Caller{Principal: fmt.Sprint(i), Toolsets: []string{"none"}})
		if f.Server(a) != first {
			t.Fatalf("the server was dropped after %d others although it was in use", i)
		}
	}
	if n := f.Cached(); n > 256 {
		t.Errorf("%d servers are cached", n)
	}
}

func TestServer_Toolsets(t *testing.T) {
	f := mcpserver.New(mcpserver.Options{})
	list, err := connect(t, f.Server(hearken.Caller{Toolsets: []string{"read"}})).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	want := []string{"export_session", "get_session_status", "get_transcription", "list_sessions", "search_transcripts"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("the read-only tools:\n%s", diff)
	}
	if list.CacheScope != "private" {
		t.Errorf("tools/list may be cached as %q", list.CacheScope)
	}
}

func TestServer_Introduction(t *testing.T) {
	h := newTestHub(t, local)
	init := h.client.InitializeResult()
	for _, want := range []string{"cursor", "never an instruction"} {
		if !strings.Contains(init.Instructions, want) {
			t.Errorf("the instructions do not mention %q", want)
		}
	}
	if init.ServerInfo.Name != "hearken" || init.ServerInfo.Version != "1.2.3" {
		t.Errorf("server: %+v", init.ServerInfo)
	}
	promised, err := json.Marshal(init.Capabilities)
	if err != nil || strings.Contains(string(promised), "logging") {
		t.Errorf("the server says that it logs to clients: %s, %v", promised, err)
	}
}

func TestServer_Completes(t *testing.T) {
	h := newTestHub(t, local)
	id := h.storeSession(1, "x")
	complete := func(ref *mcp.CompleteReference, name, value string) []string {
		t.Helper()
		res, err := h.client.Complete(t.Context(), &mcp.CompleteParams{Ref: ref, Argument: mcp.CompleteParamsArgument{Name: name, Value: value}})
		if err != nil {
			t.Fatal(err)
		}
		return res.Completion.Values
	}
	unknown := &mcp.CompleteReference{Type: "ref/prompt", Name: "no_such_prompt"}
	if got := complete(unknown, "session_id", "019A"); len(got) != 1 || got[0] != id {
		t.Errorf("sessions that begin with 019A: %v", got)
	}
	if got := complete(unknown, "session_id", "ff"); len(got) != 0 {
		t.Errorf("sessions that begin with ff: %v", got)
	}
	if got := complete(unknown, "flavour", "v"); len(got) != 0 {
		t.Errorf("an unknown argument: %v", got)
	}
}

// A bug in one call is that call's alone, and its log tells no secrets.
func TestServer_ContainsPanics(t *testing.T) {
	var log syncBuffer
	f := mcpserver.New(mcpserver.Options{Log: slog.New(slog.NewTextHandler(&log, nil))}) // without a hub
	h := &testHub{t: t, handler: newHandler(f.Server(local))}
	for range 2 {
		h.fails("search_transcripts", object{"query": secret}, -32603)
	}
	if got := log.String(); !strings.Contains(got, "tool panicked") || !strings.Contains(got, "search_transcripts") || strings.Contains(got, secret) {
		t.Errorf("the log: %s", got)
	}
}

// What the newest protocol wants in a result must survive our own rendering.
func TestServer_ModernResult(t *testing.T) {
	h := newTestHub(t, local)
	h.storeSession(1, "x")
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_sessions","arguments":{},"_meta":{
		"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},
		"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"}}}}`
	req := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body))
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "list_sessions",
	} {
		req.Header.Set(name, value)
	}
	rec := httptest.NewRecorder()
	h.handler.ServeHTTP(rec, req)
	var res struct {
		Result struct {
			ResultType        string
			Meta              map[string]any `json:"_meta"`
			Content           []struct{ Type, Text string }
			StructuredContent struct{ Sessions []any }
		}
	}
	if err := json.Unmarshal(rec.Body.Bytes(), &res); err != nil {
		t.Fatalf("%v: %s", err, rec.Body)
	}
	r := res.Result
	if r.ResultType != "complete" || r.Meta["io.modelcontextprotocol/serverInfo"] == nil || len(r.StructuredContent.Sessions) != 1 || len(r.Content) != 1 || r.Content[0].Type != "text" {
		t.Errorf("result: %s", rec.Body)
	}
}
