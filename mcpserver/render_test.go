package mcpserver

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"pgregory.net/rapid"
)

// What we write ourselves is what the SDK would have written.
func TestRenderResults(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data, err := json.Marshal(map[string]any{"text": rapid.String().Draw(t, "text"), "content": []string{}, "n": rapid.Float64Range(-1e9, 1e9).Draw(t, "n")})
		if err != nil {
			t.Fatal(err)
		}
		meta := mcp.Meta{"io.example/\"key\"": rapid.String().Draw(t, "meta")}
		plain := func() *mcp.CallToolResult {
			return &mcp.CallToolResult{Meta: meta, StructuredContent: json.RawMessage(data)}
		}
		want := plain()
		want.Content = []mcp.Content{&mcp.TextContent{Text: string(data)}}
		got, err := renderResults(func(context.Context, string, mcp.Request) (mcp.Result, error) { return plain(), nil })(context.Background(), "tools/call", nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(decode(t, want), decode(t, got)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func decode(t *rapid.T, v any) (out any) {
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return out
}

// Errors that a model sees, and the results of other methods, stay as they are.
func TestRenderResults_LeavesOthersAlone(t *testing.T) {
	failed := &mcp.CallToolResult{}
	failed.SetError(invalid("no"))
	for _, res := range []mcp.Result{failed, &mcp.ListToolsResult{}} {
		got, err := renderResults(func(context.Context, string, mcp.Request) (mcp.Result, error) { return res, nil })(t.Context(), "x", nil)
		if err != nil || got != res {
			t.Errorf("%T became %T, %v", res, got, err)
		}
	}
}
