package act

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hearken-dev/hearken/test/hubtest"
)

// startWithWebSocket starts a hub that takes JSON-RPC over WebSocket at the returned address.
func startWithWebSocket(t *testing.T) (*hubtest.Hub, string) {
	t.Helper()
	address := fmt.Sprintf("127.0.0.1:%d", hubtest.FreePort(t))
	return hubtest.Start(t, "WS_LISTEN="+address, "TRANSCRIPTION_PROVIDER=null", "TIMEZONE=Asia/Tokyo"), "ws://" + address
}

// dial does the handshake of the contract: a WebSocket with a Bearer key, and
// nothing else.
func dial(t *testing.T, url, key string) *websocket.Conn {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), url, &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + key}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.CloseNow() })
	return conn
}

func write(t *testing.T, conn *websocket.Conn, message string) {
	t.Helper()
	if err := conn.Write(t.Context(), websocket.MessageText, []byte(message)); err != nil {
		t.Fatal(err)
	}
}

// read reads one answer, its members as they stand on the wire.
func read(t *testing.T, conn *websocket.Conn) map[string]json.RawMessage {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, data, err := conn.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return m
}

// morningRun is the contract's own message, with a morning that is still to
// come.
func morningRun() (message string, start time.Time) {
	tokyo := time.FixedZone("", 9*60*60)
	tomorrow := time.Now().In(tokyo).AddDate(0, 0, 1)
	start = time.Date(tomorrow.Year(), tomorrow.Month(), tomorrow.Day(), 7, 0, 0, 0, tokyo)
	return `{
  "jsonrpc": "2.0",
  "id": "req_123",
  "method": "tools/call",
  "params": {
    "name": "calendar.create",
    "arguments": {
      "title": "朝ラン",
      "start": "` + start.Format(time.RFC3339) + `",
      "duration_min": 30
    }
  }
}`, start
}

// TestContract goes through the example of the contract as it is written
// there: the call on a bare WebSocket, the owner's yes at a terminal, the
// answer with its id, and the appointment in the calendar.
func TestContract(t *testing.T) {
	t.Parallel()
	h, url := startWithWebSocket(t)
	o, keys := setUp(t, h, 1)
	conn := dial(t, url, keys[0])
	message, start := morningRun()
	write(t, conn, message)

	a := pending(t, o)
	if a.Appointment == nil || a.Appointment.Title != "朝ラン" || !a.Appointment.Start.Equal(start) || a.Appointment.Duration != 30*time.Minute {
		t.Errorf("what waits is %+v", a.Appointment)
	}
	file := filepath.Join(t.TempDir(), "pin")
	if err := os.WriteFile(file, []byte(pin+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := h.Command([]string{"OWNER_PIN_FILE=" + file}, "approve", a.ID)
	for _, want := range []string{"朝ラン", a.ID + ": done", "07:00"} {
		if !strings.Contains(out, want) {
			t.Errorf("approve does not say %q:\n%s", want, out)
		}
	}

	m := read(t, conn)
	var result struct{ Status, ID string }
	if err := json.Unmarshal(m["result"], &result); err != nil {
		t.Fatal(err)
	}
	if string(m["jsonrpc"]) != `"2.0"` || string(m["id"]) != `"req_123"` || result.Status != "ok" || result.ID != a.ID || !strings.HasPrefix(result.ID, "evt_") {
		t.Errorf("answer %s with id %s, want ok and %s", m["result"], m["id"], a.ID)
	}

	// The same call again is the same appointment.
	write(t, conn, message)
	if again := read(t, conn); string(again["result"]) != string(m["result"]) {
		t.Errorf("the same call again: %s, and before %s", again["result"], m["result"])
	}
	if all, err := o.Actions(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("%d actions, %v", len(all), err)
	}
	if why := h.Command(nil, "why", a.ID); !strings.Contains(why, "allowed by owner (file)") {
		t.Errorf("why does not say who allowed it:\n%s", why)
	}
	for _, r := range audit(t, h) {
		if strings.Contains(fmt.Sprint(r), "朝ラン") {
			t.Errorf("the audit holds the title: %+v", r)
		}
	}
}

// TestContract_Refusals has the errors of the contract word by word, with the
// id of the request.
func TestContract_Refusals(t *testing.T) {
	t.Parallel()
	h, url := startWithWebSocket(t)
	_, keys := setUp(t, h, 1)
	message, _ := morningRun()

	check := func(m map[string]json.RawMessage, id string, code int, text string) {
		t.Helper()
		var e hubtest.RPCError
		if err := json.Unmarshal(m["error"], &e); err != nil {
			t.Fatalf("%v in %s", err, m)
		}
		if string(m["id"]) != id || e.Code != code || e.Message != text || m["result"] != nil {
			t.Errorf("%s %s, want %s with %d %q", m["id"], m["error"], id, code, text)
		}
	}
	wrong := dial(t, url, keys[0][:len(keys[0])-4]+"aaaa")
	write(t, wrong, message)
	check(read(t, wrong), `"req_123"`, 401, "Invalid API key")

	conn := dial(t, url, keys[0])
	call := func(i int) map[string]json.RawMessage {
		write(t, conn, string(hubtest.Request(fmt.Sprint("req_", i), "action.status", map[string]any{"id": "evt_none"})))
		return read(t, conn)
	}
	for i := range 100 {
		if m := call(i); m["error"] != nil {
			t.Fatalf("request %d: %s", i+1, m["error"])
		}
	}
	m := call(100)
	check(m, `"req_100"`, 429, "Rate limit exceeded")
	var e struct {
		Data struct {
			RetryAfterMS int64 `json:"retry_after_ms"`
		}
	}
	if err := json.Unmarshal(m["error"], &e); err != nil || e.Data.RetryAfterMS <= 0 || e.Data.RetryAfterMS > 60_000 {
		t.Errorf("retry_after_ms is %d, %v", e.Data.RetryAfterMS, err)
	}
	// The limit is the key's, whichever transport it uses.
	agent := &Agent{URL: h.URL, Key: keys[0]}
	if got, err := agent.Call(t.Context(), "action.status", map[string]any{"id": "evt_none"}); err == nil || err.Error() != "429 Rate limit exceeded" {
		t.Errorf("over HTTP: %v, %v", got, err)
	}
}
