//go:build accept

package accept

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// A caller speaks JSON-RPC over WebSocket and nothing else.
type caller struct {
	t    *testing.T
	conn *websocket.Conn
}

func dial(t *testing.T, ws, key string) *caller {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), ws, &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + key}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.CloseNow() })
	return &caller{t, conn}
}

// call calls a tool with nothing before it, as the contract's example has it,
// and returns the answer as it came. Meanwhile something else may be done.
func (c *caller) call(tool string, args map[string]any, meanwhile func()) []byte {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	request, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": "req_123", "method": "tools/call", "params": map[string]any{"name": tool, "arguments": args},
	})
	if err == nil {
		err = c.conn.Write(ctx, websocket.MessageText, request)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	if meanwhile != nil {
		meanwhile()
	}
	_, data, err := c.conn.Read(ctx)
	if err != nil {
		c.t.Fatal(err)
	}
	return data
}

type response struct {
	JSONRPC, ID string
	Result      outcome
	Error       *struct {
		Code    int
		Message string
		Data    map[string]any
	}
}

// TestContract compares JSON-RPC over WebSocket with the contract's own
// examples: a call, a wrong key, and a key that asks too often.
func TestContract(t *testing.T) {
	o, ws := acting(t)
	key := o.key("agent")
	args, _, _ := appointment("朝ラン")
	if id := o.callBare(ws, key, "calendar.create", "朝ラン", args); !strings.HasPrefix(id, "evt_") {
		t.Errorf("id %q", id)
	}
	refused := func(c *caller, code int, message string) *response {
		t.Helper()
		var r response
		data := c.call("calendar.create", args, nil)
		if err := json.Unmarshal(data, &r); err != nil || r.ID != "req_123" || r.Error == nil || r.Error.Code != code || r.Error.Message != message {
			t.Fatalf("%v in %s, want %d %s", err, data, code, message)
		}
		return &r
	}
	refused(dial(t, ws, "YOUR_API_KEY"), 401, "Invalid API key")

	busy := dial(t, ws, key)
	for range 99 { // with the one above, as many as a minute may have
		var r response
		if data := busy.call("calendar.create", args, nil); json.Unmarshal(data, &r) != nil || r.Result.Status != "ok" {
			t.Fatalf("the same call again: %s", data)
		}
	}
	r := refused(busy, 429, "Rate limit exceeded")
	if wait, ok := r.Error.Data["retry_after_ms"].(float64); !ok || wait <= 0 || wait > 60_000 {
		t.Errorf("retry_after_ms: %+v", r.Error.Data)
	}
	refused(dial(t, ws, key), 429, "Rate limit exceeded") // by another connection, too
}
