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

// agents ask by tools and answer every question themselves.
func agents() []attempt {
	list := []attempt{
		{"tools", "stdio, answering its own question", told(func(ctx context.Context, c *castle) error {
			cmd := exec.Command(c.binary, "--stdio")
			cmd.Env, cmd.Dir = c.env(), c.home
			return obliging(ctx, &mcp.CommandTransport{Command: cmd, TerminateDuration: moment / 4}, "by stdio")
		})},
		{"tools", "HTTP, answering its own question", told(func(ctx context.Context, c *castle) error {
			return obliging(ctx, &mcp.StreamableClientTransport{Endpoint: c.url + "/mcp", HTTPClient: &http.Client{Transport: keyed{c.key}}}, "by HTTP")
		})},
		{"tools", "HTTP without a key", func(ctx context.Context, c *castle) string {
			answer, err := c.tool(ctx, map[string]any{"name": hearken.CalendarCreate, "arguments": appointment("no key")}, map[string]string{"Authorization": ""})
			return fmt.Sprint(answer, err)
		}},
		{"tools", "arguments that say yes", func(ctx context.Context, c *castle) string {
			args := appointment("says yes")
			for _, name := range []string{"approved", "confirm", "confirmed", "decision", "by", "pin", "approver", "grant"} {
				args[name] = "allow"
			}
			answer, err := c.briefly(ctx, map[string]any{"name": hearken.CalendarCreate, "arguments": args, "_meta": map[string]any{"approved": true, "approver": "owner"}})
			return fmt.Sprint(answer, err)
		}},
	}
	for name, seal := range map[string]func(c *castle) []byte{
		"sealed with nothing":       func(*castle) []byte { return nil },
		"sealed with zeros":         func(*castle) []byte { return make([]byte, 32) },
		"sealed with the hub's key": func(c *castle) []byte { key, _ := os.ReadFile(filepath.Join(c.keys, "state.key")); return key },
	} {
		list = append(list,
			attempt{"tools", "an answer to no question over HTTP, " + name, func(ctx context.Context, c *castle) string {
				answer, err := c.briefly(ctx, c.answer(seal(c)))
				return fmt.Sprint(answer, err)
			}},
			attempt{"tools", "an answer to no question over WebSocket, " + name, func(ctx context.Context, c *castle) string {
				return c.overWebSocket(ctx, c.answer(seal(c)))
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
func (c *castle) briefly(ctx context.Context, params map[string]any) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, moment)
	defer cancel()
	return c.tool(ctx, params, nil)
}

// answer is the call of what waits, with an answer to a question that nobody
// asked.
func (c *castle) answer(key []byte) map[string]any {
	var keys []hearken.Key
	if err := c.ask(context.Background(), map[string]any{"op": "keys.list"}, &keys); err != nil || len(keys) == 0 {
		keys = []hearken.Key{{}}
	}
	args := map[string]any{
		"title": c.victim.Appointment.Title, "start": c.victim.Appointment.Start.UTC().Format(time.RFC3339), "duration_min": 30,
	}
	canonical, _ := json.Marshal(struct {
		Title       string  `json:"title"`
		Start       string  `json:"start"`
		DurationMin float64 `json:"duration_min"`
	}{args["title"].(string), args["start"].(string), 30})
	sum := sha256.Sum256(canonical)
	body, _ := json.Marshal(map[string]any{
		"p": keys[0].ID, "t": hearken.CalendarCreate, "a": fmt.Sprintf("%x", sum), "i": c.victim.ID, "d": c.victim.Digest,
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

// overWebSocket calls a tool at the other door.
func (c *castle) overWebSocket(ctx context.Context, params map[string]any) string {
	ctx, cancel := context.WithTimeout(ctx, moment)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, c.ws, &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + c.key}}})
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
