package mcpserver_test

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	"github.com/hearken-dev/hearken/api"
	"github.com/hearken-dev/hearken/mcpserver"
	"github.com/hearken-dev/hearken/store/storetest"
)

var _ mcpserver.ActionQueue = (*act.Queue)(nil)

// A fakeConnector records the actions it was given.
type fakeConnector struct {
	name string

	mu   sync.Mutex
	done []hearken.Action
}

func (s *fakeConnector) Name() string     { return s.name }
func (s *fakeConnector) Repeatable() bool { return true }

func (s *fakeConnector) Do(_ context.Context, a *hearken.Action) hearken.Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = append(s.done, *a)
	return hearken.Outcome{Result: hearken.ResultOK, Receipt: "r"}
}

func (s *fakeConnector) Undo(context.Context, *hearken.Action) hearken.Outcome {
	return hearken.Outcome{Result: hearken.ResultOK}
}

func (s *fakeConnector) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.done)
}

// noAudit takes every record.
type noAudit struct{}

func (noAudit) Append(context.Context, hearken.AuditRecord) error { return nil }

// An apiServer is a real action queue behind real transports.
type apiServer struct {
	*testing.T
	queue    *act.Queue
	factory  *mcpserver.Factory
	api      *api.API
	store    hearken.Store
	calendar *fakeConnector
	mail     *fakeConnector
}

func newAPIServer(t *testing.T, change ...func(*mcpserver.Options)) *apiServer {
	t.Helper()
	s := &apiServer{T: t, store: storetest.NewMemory(), calendar: &fakeConnector{name: "builtin"}, mail: &fakeConnector{name: "email"}}
	exposure, err := act.OpenExposure(t.Context(), act.ExposureConfig{Store: s.store})
	if err != nil {
		t.Fatal(err)
	}
	s.queue, err = act.Open(t.Context(), act.Config{
		Dir: t.TempDir(), Store: s.store, Audit: noAudit{}, Exposure: exposure, Zone: time.UTC,
		Calendars: []hearken.Connector{s.calendar}, Messengers: []hearken.Connector{s.mail}, Reminders: []hearken.Connector{&fakeConnector{name: "builtin"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	opts := mcpserver.Options{Actions: s.queue}
	for _, f := range change {
		f(&opts)
	}
	s.factory = mcpserver.New(opts)
	s.api, err = api.New(api.Config{
		Keys: s.store, WSListen: "127.0.0.1:0",
		MCP: s.factory.Server,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.api.Serve(ctx) }()
	t.Cleanup(func() {
		s.factory.Close()
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if err := s.queue.Close(context.Background()); err != nil {
			t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return s
}

func (s *apiServer) key(approver string) (hearken.Key, string) {
	s.Helper()
	key, secret := hearken.NewKey("test", time.Now(), nil)
	key.Approver = approver
	if err := s.store.SaveKey(s.Context(), &key); err != nil {
		s.Fatal(err)
	}
	return key, secret
}

func (s *apiServer) dial(url, secret string) *websocket.Conn {
	s.Helper()
	opts := &websocket.DialOptions{Subprotocols: []string{"mcp"}}
	if secret != "" {
		opts.HTTPHeader = http.Header{"Authorization": {"Bearer " + secret}}
	}
	c, _, err := websocket.Dial(s.Context(), url, opts)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { c.CloseNow() })
	return c
}

func (s *apiServer) say(c *websocket.Conn, message string) string {
	s.Helper()
	if err := c.Write(s.Context(), websocket.MessageText, []byte(message)); err != nil {
		s.Fatal(err)
	}
	_, b, err := c.Read(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	return string(b)
}

// ownerAllows has the owner say yes to whatever comes, so many times.
func (s *apiServer) ownerAllows(n int) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), 20*time.Second)
	s.Cleanup(cancel)
	for n > 0 {
		changes := s.queue.Changes()
		waiting, err := s.queue.Actions(ctx, hearken.ActionFilter{States: []hearken.ActionState{hearken.ActionPending}})
		if err != nil {
			s.Error(err)
			return
		}
		for _, a := range waiting {
			if _, decided, err := s.queue.Decide(ctx, act.DecisionRequest{ID: a.ID, Digest: a.Digest, Allow: true, By: "owner", From: "page"}); err != nil {
				s.Error(err)
				return
			} else if decided {
				n--
			}
		}
		select {
		case <-changes:
		case <-ctx.Done():
			s.Error("nothing came to wait")
			return
		}
	}
}

// theExample is the message of the contract, with a day that is to come.
const theExample = `{
  "jsonrpc": "2.0",
  "id": "req_123",
  "method": "tools/call",
  "params": {
    "name": "calendar.create",
    "arguments": {
      "title": "朝ラン",
      "start": "TOMORROW",
      "duration_min": 30
    }
  }
}`

func example() string {
	return strings.Replace(theExample, "TOMORROW", time.Now().AddDate(0, 0, 1).Format(time.RFC3339), 1)
}

// The contract's messages, word for word, over the transport that it names.
func TestTransports_TheContract(t *testing.T) {
	s := newAPIServer(t, func(o *mcpserver.Options) { o.Limit = 3 })
	_, secret := s.key("")
	c := s.dial(s.api.WSURL(), secret)
	go s.ownerAllows(1)
	answer := s.say(c, example())
	var got struct {
		JSONRPC, ID string
		Result      map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(answer), &got); err != nil {
		t.Fatal(err)
	}
	if got.JSONRPC != "2.0" || got.ID != "req_123" || string(got.Result["status"]) != `"ok"` || !regexp.MustCompile(`^"evt_[a-z2-7]{16}"$`).Match(got.Result["id"]) || got.Result["error"] != nil {
		t.Errorf("%s", answer)
	}
	if got.Result["content"] == nil || string(got.Result["structuredContent"]) != `{"status":"ok","id":`+string(got.Result["id"])+`}` {
		t.Errorf("the protocol's members: %s", answer)
	}
	if s.calendar.count() != 1 || s.calendar.done[0].Appointment.Title != "朝ラン" {
		t.Errorf("in the calendar: %+v", s.calendar.done)
	}
	s.say(c, example()) // the same again, which changes nothing
	s.say(c, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	limited := s.say(c, example())
	if !strings.HasPrefix(limited, `{"jsonrpc":"2.0","id":"req_123","error":{"code":429,"message":"Rate limit exceeded","data":{"retry_after_ms":`) {
		t.Errorf("limited: %s", limited)
	}
	if s.calendar.count() != 1 {
		t.Errorf("%d times in the calendar", s.calendar.count())
	}
	unknown := s.say(s.dial(s.api.WSURL(), ""), example())
	if want := `{"jsonrpc":"2.0","id":"req_123","error":{"code":401,"message":"Invalid API key"}}`; unknown != want {
		t.Errorf("without a key: %s", unknown)
	}
}

func (s *apiServer) post(body, secret string) (status int, answer string) {
	s.Helper()
	req, err := http.NewRequestWithContext(s.Context(), http.MethodPost, s.api.URL()+"/mcp", strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	if secret != "" {
		req.Header.Set("Authorization", "Bearer "+secret)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.Fatal(err)
	}
	defer res.Body.Close()
	var b strings.Builder
	if err := res.Write(&b); err != nil {
		s.Fatal(err)
	}
	_, answer, _ = strings.Cut(b.String(), "\r\n\r\n")
	return res.StatusCode, strings.TrimSpace(answer)
}

// The same over HTTP, where no key is needed for the rest.
func TestTransports_HTTP(t *testing.T) {
	s := newAPIServer(t)
	_, secret := s.key("")
	if _, answer := s.post(example(), ""); !strings.HasPrefix(answer, `{"jsonrpc":"2.0","id":"req_123","error":{"code":401,"message":"Invalid API key","data":{"code":"unauthorized","message":"Invalid API key","try":"hearken keys create`) {
		t.Errorf("without a key: %s", answer)
	}
	if _, answer := s.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, ""); strings.Contains(answer, "calendar_create") || !strings.Contains(answer, "list_sessions") {
		t.Errorf("listed without a key: %.200s", answer)
	}
	go s.ownerAllows(1)
	if status, answer := s.post(example(), secret); status != 200 || !strings.Contains(answer, `"status":"ok","id":"evt_`) {
		t.Errorf("%d: %s", status, answer)
	}
	if s.calendar.count() != 1 {
		t.Errorf("%d times in the calendar", s.calendar.count())
	}
}

// The official SDK's WebSocket client: no header, a ticket in its place.
func TestTransports_Ticket(t *testing.T) {
	s := newAPIServer(t)
	_, secret := s.key("")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.api.URL()+"/v1/ws-ticket", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var bought struct{ URL string }
	if err := json.NewDecoder(res.Body).Decode(&bought); err != nil {
		t.Fatal(err)
	}
	go s.ownerAllows(1)
	if answer := s.say(s.dial(bought.URL, ""), example()); !strings.Contains(answer, `"status":"ok"`) {
		t.Errorf("%s", answer)
	}
}

// A key that is revoked while its owner thinks: the call is told, the
// connection closes, and a yes that comes later does nothing.
func TestTransports_RevokedMidCall(t *testing.T) {
	s := newAPIServer(t)
	key, secret := s.key("")
	c := s.dial(s.api.WSURL(), secret)
	go func() {
		changes := s.queue.Changes()
		for {
			waiting, err := s.queue.Actions(t.Context(), hearken.ActionFilter{States: []hearken.ActionState{hearken.ActionPending}})
			if err != nil || len(waiting) > 0 {
				break
			}
			<-changes
			changes = s.queue.Changes()
		}
		now := time.Now()
		key.RevokedAt = &now
		if err := s.store.SaveKey(context.Background(), &key); err != nil {
			t.Error(err)
		}
	}()
	if answer := s.say(c, example()); answer != `{"jsonrpc":"2.0","id":"req_123","error":{"code":401,"message":"Invalid API key"}}` {
		t.Errorf("%s", answer)
	}
	if _, _, err := c.Read(t.Context()); websocket.CloseStatus(err) != 4401 {
		t.Errorf("closed with %v", err)
	}
	waiting, err := s.queue.Actions(t.Context(), hearken.ActionFilter{})
	if err != nil || len(waiting) != 1 {
		t.Fatalf("%v, %v", waiting, err)
	}
	a := &waiting[0]
	s.queue.Decide(t.Context(), act.DecisionRequest{ID: a.ID, Digest: a.Digest, Allow: true, By: "owner", From: "page"})
	if a, err = s.queue.Await(t.Context(), a.ID, 20*time.Second); err != nil || !a.State.Final() || s.calendar.count() != 0 {
		t.Errorf("the action is %+v, %v; %d times in the calendar", a, err, s.calendar.count())
	}
}

// One answer, sent many times at once over many connections, and the owner
// besides: one decision and one effect.
func TestTransports_AnswersRace(t *testing.T) {
	for range 10 {
		s := newAPIServer(t, func(o *mcpserver.Options) { o.Limit = -1 })
		key, _ := s.key(hearken.ApproverClient)
		c := &actionServer{t: t, factory: s.factory}
		caller := hearken.Caller{Principal: key.ID, Approver: key.Approver, Transport: hearken.TransportWebSocket}
		args := object{"title": "x", "start": time.Now().AddDate(0, 0, 1).Format(time.RFC3339), "duration_min": 30}
		state, retry := c.question(t, caller, args)
		var race sync.WaitGroup
		var mu sync.Mutex
		codes := map[string]int{}
		for range 20 {
			race.Go(func() {
				got := retry(caller, "calendar.create", args, state, accept(object{"decision": "allow"}))
				mu.Lock()
				defer mu.Unlock()
				codes[code(got["error"])]++
			})
		}
		race.Wait()
		if s.calendar.count() != 1 || codes[""] != 1 || codes["approval_mismatch"] != 19 {
			t.Errorf("%d effects, answers %v", s.calendar.count(), codes)
		}
	}
}

// A real queue checks the key itself, whatever the server believes.
func TestTransports_ApproverIsTheKeys(t *testing.T) {
	s := newAPIServer(t)
	key, _ := s.key("") // the owner's alone
	var forms []*mcp.ElicitParams
	c := &actionServer{t: t, factory: s.factory}
	client := c.connect(t, hearken.Caller{Principal: key.ID, Approver: hearken.ApproverClient}, "2026-07-28", answeringForms(&forms, accept(object{"decision": "allow"}), nil))
	args := object{"title": "x", "start": time.Now().AddDate(0, 0, 1).Format(time.RFC3339), "duration_min": 30}
	got := outcomeOf(t, client, &mcp.CallToolParams{Name: "calendar_create", Arguments: args})
	if got["status"] != "error" || s.calendar.count() != 0 {
		t.Errorf("%v, %d effects", got, s.calendar.count())
	}
}

// What the queue refuses has its code.
func TestTransports_Refusals(t *testing.T) {
	s := newAPIServer(t)
	_, secret := s.key("")
	c := s.dial(s.api.WSURL(), secret)
	soon := time.Now().AddDate(0, 0, 1).Format(time.RFC3339)
	for _, tt := range []struct {
		tool, want string
		args       object
	}{
		{"calendar.create", "invalid_time", object{"title": "x", "start": "next friday", "duration_min": 30}},
		{"calendar.create", "time_in_past", object{"title": "x", "start": "2020-01-01T10:00:00Z", "duration_min": 30}},
		{"calendar.create", "duration_out_of_range", object{"title": "x", "start": soon, "duration_min": 0}},
		{"calendar.create", "invalid", object{"title": "", "start": soon, "duration_min": 5}},
		{"message.send", "unknown_recipient", object{"to": "Nobody", "text": "x"}},
		{"message.send", "invalid", object{"to": "bob@example.org", "text": strings.Repeat("x", 1<<20)}},
		{"message.send", "invalid_recipient", object{"to": "bob@example.org\r\nBcc: eve@example.org", "text": "x"}},
		{"reminder.create", "invalid_repeat", object{"time": soon, "note": "x", "repeat": "FREQ=SECONDLY"}},
		{"action.status", "not_found", object{"id": "evt_aaaaaaaaaaaaaaaa"}},
	} {
		params, err := json.Marshal(object{"name": tt.tool, "arguments": tt.args})
		if err != nil {
			t.Fatal(err)
		}
		got := parse(t, s.say(c, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+string(params)+`}`))
		if got.Result == nil || code(got.Result.Error) != tt.want || !got.Result.IsError {
			t.Errorf("%s %.60v: %+v", tt.tool, tt.args, got)
		}
	}
}
