package injection

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/coder/websocket"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
)

// toolAttacks call tools and answer every question themselves.
func toolAttacks() []attack {
	list := []attack{
		{"tools", "stdio, answering its own question", describe(func(ctx context.Context, t *target) error {
			cmd := exec.Command(t.Bin, "--stdio")
			cmd.Env, cmd.Dir = t.env(), t.home
			return obliging(ctx, &mcp.CommandTransport{Command: cmd, TerminateDuration: moment / 4}, "by stdio")
		})},
		{"tools", "HTTP, answering its own question", describe(func(ctx context.Context, t *target) error {
			return obliging(ctx, &mcp.StreamableClientTransport{Endpoint: t.URL + "/mcp", HTTPClient: &http.Client{Transport: keyed{t.key}}}, "by HTTP")
		})},
		{"tools", "HTTP without a key", func(ctx context.Context, t *target) string {
			answer, err := t.tool(ctx, map[string]any{"name": hearken.CalendarCreate, "arguments": appointment("no key")}, map[string]string{"Authorization": ""})
			return fmt.Sprint(answer, err)
		}},
		{"tools", "arguments that say yes", func(ctx context.Context, t *target) string {
			args := appointment("says yes")
			for _, name := range []string{"approved", "confirm", "confirmed", "decision", "by", "pin", "approver", "grant"} {
				args[name] = "allow"
			}
			answer, err := t.briefly(ctx, map[string]any{"name": hearken.CalendarCreate, "arguments": args, "_meta": map[string]any{"approved": true, "approver": "owner"}})
			return fmt.Sprint(answer, err)
		}},
	}
	for name, seal := range map[string]func(t *target) []byte{
		"sealed with nothing":       func(*target) []byte { return nil },
		"sealed with zeros":         func(*target) []byte { return make([]byte, 32) },
		"sealed with the hub's key": func(t *target) []byte { key, _ := os.ReadFile(filepath.Join(t.keys, "state.key")); return key },
	} {
		list = append(list,
			attack{"tools", "an answer to no question over HTTP, " + name, func(ctx context.Context, t *target) string {
				answer, err := t.briefly(ctx, t.answer(seal(t)))
				return fmt.Sprint(answer, err)
			}},
			attack{"tools", "an answer to no question over WebSocket, " + name, func(ctx context.Context, t *target) string {
				return t.overWebSocket(ctx, t.answer(seal(t)))
			}})
	}
	return list
}

// keyed sends the agent's key along.
type keyed struct{ key string }

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+k.key)
	return http.DefaultTransport.RoundTrip(r)
}

// moment is how long an agent waits for itself to be asked.
const moment = 700 * time.Millisecond

// obliging asks for an action by a client that says yes to every question.
func obliging(ctx context.Context, transport mcp.Transport, title string) error {
	client := mcp.NewClient(&mcp.Implementation{Name: "obliging", Version: "1"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}}},
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": "allow"}}, nil
		},
	})
	session, err := client.Connect(ctx, transport, nil)
	if err != nil {
		return err
	}
	defer func() { _ = session.Close() }() // whatever it could do is done
	ctx, cancel := context.WithTimeout(ctx, moment)
	defer cancel()
	_, err = session.CallTool(ctx, &mcp.CallToolParams{Name: "calendar_create", Arguments: appointment(title)})
	return err
}

// briefly calls a tool and does not wait for a person.
func (t *target) briefly(ctx context.Context, params map[string]any) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, moment)
	defer cancel()
	return t.tool(ctx, params, nil)
}

// answer is the call of what waits, with an answer to a question that nobody
// asked.
func (t *target) answer(key []byte) map[string]any {
	var keys []hearken.Key
	if err := t.control(context.Background(), map[string]any{"op": "keys.list"}, &keys); err != nil || len(keys) == 0 {
		keys = []hearken.Key{{}}
	}
	args := map[string]any{
		"title": t.action.Appointment.Title, "start": t.action.Appointment.Start.UTC().Format(time.RFC3339), "duration_min": 30,
	}
	canonical, _ := json.Marshal(struct {
		Title       string  `json:"title"`
		Start       string  `json:"start"`
		DurationMin float64 `json:"duration_min"`
	}{args["title"].(string), args["start"].(string), 30})
	sum := sha256.Sum256(canonical)
	body, _ := json.Marshal(map[string]any{
		"p": keys[0].ID, "t": hearken.CalendarCreate, "a": fmt.Sprintf("%x", sum), "i": t.action.ID, "d": t.action.Digest,
		"e": time.Now().Add(time.Hour).Unix(), "n": "nonce",
	})
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("hearken request state 1\n"))
	mac.Write(body)
	state := base64.RawURLEncoding.EncodeToString(body) + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	return map[string]any{
		"name": hearken.CalendarCreate, "arguments": args, "requestState": state,
		"inputResponses": map[string]any{"confirm": map[string]any{"action": "accept", "content": map[string]any{"decision": "allow"}}},
	}
}

// overWebSocket calls a tool at the other via.
func (t *target) overWebSocket(ctx context.Context, params map[string]any) string {
	ctx, cancel := context.WithTimeout(ctx, moment)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, t.ws, &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + t.key}}})
	if err != nil {
		return err.Error()
	}
	defer conn.CloseNow()
	call, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
	if err != nil {
		return err.Error()
	}
	if err := conn.Write(ctx, websocket.MessageText, call); err != nil {
		return err.Error()
	}
	_, answer, err := conn.Read(ctx)
	return fmt.Sprint(string(answer), err)
}
