//go:build accept

package accept

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// A call is what a model decides to do next.
type call struct {
	tool string // without the prefix that the agent puts before it
	args map[string]any
}

// A model plays the part of the language model behind an agent: it speaks the
// Messages API as far as agents need it, and follows a script. The script sees
// the results of all calls so far, as the agent shows them to its model, and
// returns the next call, or nil to end.
type model struct {
	*httptest.Server
	script func(shown []string) *call

	mu    sync.Mutex
	shown []string
	tools map[string]bool // that the agent offered
}

func newModel(t *testing.T, script func(shown []string) *call) *model {
	m := &model{script: script, tools: map[string]bool{}}
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.Close)
	return m
}

// messages is a request, as far as it matters here.
type messages struct {
	Model    string
	Stream   bool
	Tools    []struct{ Name string }
	Messages []struct{ Content json.RawMessage }
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req messages
	if !strings.HasSuffix(r.URL.Path, "/messages") || json.NewDecoder(r.Body).Decode(&req) != nil {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, "{}")
		return
	}
	block := map[string]any{"type": "text", "text": "Done."}
	if next, id := m.next(&req); next != nil {
		block = map[string]any{"type": "tool_use", "id": id, "name": next.tool, "input": next.args}
	}
	answer(w, &req, block)
}

// search is the id of the call that makes an agent load its tools.
const search = "toolu_search"

// next asks the script, unless the agent wants something else of its model,
// such as a title for the conversation. It returns the call by the agent's own
// name for the tool, and an id for it.
func (m *model) next(req *messages) (*call, string) {
	names := map[string]string{}
	searches := false
	for _, tool := range req.Tools {
		searches = searches || tool.Name == "ToolSearch"
		for _, prefix := range []string{"mcp__hearken__", "hearken_"} {
			if short, ok := strings.CutPrefix(tool.Name, prefix); ok {
				names[strings.ReplaceAll(short, ".", "_")] = tool.Name // either spelling is the hub's
			}
		}
	}
	if len(names) == 0 && searches {
		return &call{"ToolSearch", map[string]any{"query": "hearken", "max_results": 100}}, search
	}
	if len(names) == 0 {
		return nil, ""
	}
	var shown []string
	for _, message := range req.Messages {
		shown = append(shown, toolResults(message.Content)...)
	}
	m.mu.Lock()
	m.shown = shown
	for short := range names {
		m.tools[short] = true
	}
	m.mu.Unlock()
	next := m.script(shown)
	if next == nil {
		return nil, ""
	}
	return &call{cmp.Or(names[next.tool], next.tool), next.args}, fmt.Sprintf("toolu_%d", len(shown))
}

func (m *model) results() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.shown
}

// toolResults are the results of calls in the content of one message.
func toolResults(content json.RawMessage) []string {
	var blocks []struct {
		Type    string
		ID      string `json:"tool_use_id"`
		Content json.RawMessage
	}
	if json.Unmarshal(content, &blocks) != nil {
		return nil // a plain string
	}
	var results []string
	for _, b := range blocks {
		if b.Type != "tool_result" || b.ID == search {
			continue
		}
		var text string
		var parts []struct{ Text string }
		if json.Unmarshal(b.Content, &text) != nil && json.Unmarshal(b.Content, &parts) == nil {
			for _, p := range parts {
				text += p.Text
			}
		}
		results = append(results, text)
	}
	return results
}

// answer writes a message with one block, as a stream of events or whole.
func answer(w http.ResponseWriter, req *messages, block map[string]any) {
	stop := "end_turn"
	if block["type"] == "tool_use" {
		stop = "tool_use"
	}
	message := map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": req.Model, "content": []any{block},
		"stop_reason": stop, "stop_sequence": nil, "usage": map[string]any{"input_tokens": 1, "output_tokens": 1},
	}
	if !req.Stream {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(message)
		return
	}
	opening := map[string]any{"type": block["type"]}
	var delta map[string]any
	if stop == "tool_use" {
		input, _ := json.Marshal(block["input"])
		opening["id"], opening["name"], opening["input"] = block["id"], block["name"], map[string]any{}
		delta = map[string]any{"type": "input_json_delta", "partial_json": string(input)}
	} else {
		opening["text"] = ""
		delta = map[string]any{"type": "text_delta", "text": block["text"]}
	}
	message["content"], message["stop_reason"] = []any{}, nil
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range []map[string]any{
		{"type": "message_start", "message": message},
		{"type": "content_block_start", "index": 0, "content_block": opening},
		{"type": "content_block_delta", "index": 0, "delta": delta},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]any{"output_tokens": 5}},
		{"type": "message_stop"},
	} {
		data, _ := json.Marshal(event)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event["type"], data)
	}
}
