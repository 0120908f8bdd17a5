//go:build accept

package accept

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken/test/hubtest"
)

// TestCodex_TakesNotes has a scripted model drive Codex. Codex keeps almost
// all of its environment from the servers that it starts, the runtime
// directory too, and must still find the hub.
func TestCodex_TakesNotes(t *testing.T) {
	root := engine(t)
	program := installed(t, "codex", "@openai", "codex", "bin", "codex.js")
	nodejs := node(t)
	h := hubtest.Start(t, "HEARKEN_MODELS="+root)
	c := newConversation(t)
	m := newResponses(t, c.next)
	a := joinHub(t, h, nodejs, program)
	a.write(".codex/config.toml", fmt.Sprintf(`model = "scripted"
model_provider = "scripted"
[model_providers.scripted]
name = "Scripted"
base_url = "%s/v1"
wire_api = "responses"
`, m.URL))
	a.must("mcp", "add", "hearken", "--env", "HEARKEN_DATA_DIR="+h.Dir, "--", a.dir+"/bin/hearken", "--stdio")
	out := a.must("exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "Take notes of what is said.")
	if !strings.Contains(out, "Done.") {
		t.Errorf("Codex said %q", out)
	}
	c.check(m.shown)
}

// A responses plays the language model behind Codex, as [model] does behind
// the others: it speaks the Responses API.
type responses struct {
	*httptest.Server
	script func(shown []string) *call
	shown  []string // read it when the agent has ended
}

func newResponses(t *testing.T, script func(shown []string) *call) *responses {
	m := &responses{script: script}
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.Close)
	return m
}

func (m *responses) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Input []struct {
			Type   string
			Output json.RawMessage
		}
	}
	if !strings.HasSuffix(r.URL.Path, "/responses") || json.NewDecoder(r.Body).Decode(&req) != nil {
		fmt.Fprint(w, "{}")
		return
	}
	m.shown = nil
	for _, item := range req.Input {
		if item.Type != "function_call_output" {
			continue
		}
		var text string
		if json.Unmarshal(item.Output, &text) != nil {
			text = string(item.Output)
		}
		// Codex puts a line on how long it took before the result.
		if _, result, ok := strings.Cut(text, "Output:\n"); ok {
			text = result
		}
		m.shown = append(m.shown, text)
	}
	item := map[string]any{
		"type": "message", "id": "msg_1", "role": "assistant",
		"content": []any{map[string]any{"type": "output_text", "text": "Done."}},
	}
	if next := m.script(m.shown); next != nil {
		args, _ := json.Marshal(next.args)
		id := fmt.Sprint(len(m.shown))
		item = map[string]any{
			"type": "function_call", "id": "fc_" + id, "call_id": "call_" + id,
			"namespace": "mcp__hearken", "name": next.tool, "arguments": string(args),
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range []map[string]any{
		{"type": "response.created", "response": map[string]any{"id": "resp_1"}},
		{"type": "response.output_item.done", "output_index": 0, "item": item},
		{"type": "response.completed", "response": map[string]any{
			"id": "resp_1", "usage": map[string]any{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2},
		}},
	} {
		data, _ := json.Marshal(event)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event["type"], data)
	}
}
