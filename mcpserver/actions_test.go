package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	"github.com/hearken-dev/hearken/mcpserver"
)

var (
	withKey   = hearken.Caller{Principal: "key_a"}
	otherKey  = hearken.Caller{Principal: "key_b"}
	loopback  = hearken.Caller{Principal: "loopback"}
	onWS      = hearken.Caller{Principal: "key_a", Transport: hearken.TransportWebSocket}
	morning   = object{"title": "朝ラン", "start": "2026-09-19T07:00:00+09:00", "duration_min": 30}
	greeting  = object{"to": "Bob", "text": "hello"}
	noLimit   = -1
	everybody = slog.New(slog.DiscardHandler)
)

// An actionServer offers the action tools, with a fake queue behind them.
type actionServer struct {
	t       *testing.T
	queue   *fakeQueue
	factory *mcpserver.Factory
}

func newActionServer(t *testing.T, change ...func(*mcpserver.Options)) *actionServer {
	t.Helper()
	c := &actionServer{t: t, queue: newFakeQueue()}
	opts := mcpserver.Options{Actions: c.queue, Log: everybody, Limit: noLimit}
	for _, f := range change {
		f(&opts)
	}
	c.factory = mcpserver.New(opts)
	return c
}

// wire sends one bare call and returns the answer as it is on the wire.
func (c *actionServer) wire(caller hearken.Caller, tool string, args any) string {
	c.t.Helper()
	return rawCall(c.t, c.factory.Server(caller), object{"name": tool, "arguments": args})
}

// answer is a JSON-RPC answer to a call of an action.
type answer struct {
	ID     any
	Result *struct {
		Status, ID, Error string
		IsError           bool
		Content           []struct{ Type, Text string }
		StructuredContent map[string]string
	}
	Error *struct {
		Code    int
		Message string
		Data    map[string]any
	}
}

func (c *actionServer) call(caller hearken.Caller, tool string, args any) answer {
	c.t.Helper()
	return parse(c.t, c.wire(caller, tool, args))
}

func parse(t testing.TB, wire string) answer {
	t.Helper()
	var a answer
	if err := json.Unmarshal([]byte(wire), &a); err != nil {
		t.Fatalf("%v: %s", err, wire)
	}
	if r := a.Result; r != nil && r.Status != "" {
		// The three places say the same.
		want := map[string]string{"status": r.Status}
		for name, v := range map[string]string{"id": r.ID, "error": r.Error} {
			if v != "" {
				want[name] = v
			}
		}
		if diff := cmp.Diff(want, r.StructuredContent); diff != "" {
			t.Errorf("structure and members differ:\n%s", diff)
		}
		var text map[string]string
		if err := json.Unmarshal([]byte(r.Content[0].Text), &text); err != nil || !cmp.Equal(want, text) {
			t.Errorf("%v: text %s, members %v", err, r.Content[0].Text, want)
		}
	}
	return a
}

func code(text string) string {
	before, _, _ := strings.Cut(text, ":")
	return before
}

// The spec's own example, and its answer.
func TestActions_TheContract(t *testing.T) {
	for _, tool := range []string{"calendar.create", "calendar_create"} {
		for _, caller := range []hearken.Caller{withKey, onWS, local} {
			c := newActionServer(t)
			go func() { c.queue.owner(t, c.queue.pending(t), true) }()
			got := c.call(caller, tool, morning)
			if got.Error != nil || got.Result.Status != "ok" || !hearken.ValidActionID(got.Result.ID) || got.Result.Error != "" || got.Result.IsError {
				t.Errorf("%s: %+v", tool, got)
			}
			want := act.Request{Principal: caller.Principal, Tool: "calendar.create", Calendar: &act.CalendarArgs{Title: "朝ラン", Start: "2026-09-19T07:00:00+09:00", Minutes: 30}}
			if diff := cmp.Diff([]act.Request{want}, c.queue.requests); diff != "" {
				t.Errorf("%s asked for another thing:\n%s", tool, diff)
			}
			if n := c.queue.done(); n != 1 {
				t.Errorf("%d effects", n)
			}
		}
	}
}

func TestActions_AllArguments(t *testing.T) {
	c := newActionServer(t)
	c.queue.refuse = hearken.Errorf(hearken.ActionsPaused, "x")
	evidence := object{"session_id": "s", "segment_ids": []string{"1", "2"}, "quote": "q"}
	c.call(withKey, "calendar.create", object{"title": "t", "start": "s", "duration_min": 7.5, "description": "d", "location": "l", "evidence": evidence, "idempotency_key": "k"})
	c.call(withKey, "message.send", object{"to": "t", "text": "x", "platform": "sms", "evidence": evidence, "idempotency_key": "k"})
	c.call(withKey, "reminder.create", object{"time": "t", "note": "n", "repeat": "daily", "evidence": evidence, "idempotency_key": "k"})
	want := []act.Request{
		{Tool: "calendar.create", Calendar: &act.CalendarArgs{Title: "t", Start: "s", Minutes: 7.5, Description: "d", Location: "l"}},
		{Tool: "message.send", Message: &act.MessageArgs{To: "t", Text: "x", Platform: "sms"}},
		{Tool: "reminder.create", Reminder: &act.ReminderArgs{Time: "t", Note: "n", Repeat: "daily"}},
	}
	if len(c.queue.requests) != len(want) {
		t.Fatalf("%d requests", len(c.queue.requests))
	}
	for i, got := range c.queue.requests {
		if got.Claim == nil || got.Claim.Session != "s" || got.Claim.Quote != "q" || !slices.Equal(got.Claim.Segments, []string{"1", "2"}) || got.IdempotencyKey != "k" {
			t.Errorf("%s: claim %+v, same %q", got.Tool, got.Claim, got.IdempotencyKey)
		}
		want[i].Principal, want[i].Claim, want[i].IdempotencyKey = "key_a", got.Claim, "k"
		if diff := cmp.Diff(want[i], got); diff != "" {
			t.Error(diff)
		}
	}
}

// What the agent can mend is an error to it; what people decided is not.
func TestActions_Refusals(t *testing.T) {
	for refusal, isError := range map[hearken.Code]bool{
		hearken.AmbiguousRecipient: true, hearken.UnknownRecipient: true, hearken.InvalidRecipient: true, hearken.InvalidTime: true,
		hearken.InvalidRepeat: true, hearken.DurationOutOfRange: true, hearken.TimeInPast: true, "no_sms_address": true, hearken.Invalid: true,
		hearken.PolicyDenied: false, hearken.DailyLimit: false, hearken.AuditUnavailable: false, hearken.ConnectorMissing: false,
		hearken.ActionsPaused: false, hearken.ScopeDenied: false,
	} {
		c := newActionServer(t)
		c.queue.refuse = hearken.Errorf(refusal, "Not so.").WithTry("another")
		got := c.call(withKey, "message.send", greeting)
		if got.Result == nil || got.Result.Status != "error" || got.Result.Error != string(refusal)+": Not so. Try: another" || got.Result.IsError != isError {
			t.Errorf("%s: %+v", refusal, got)
		}
	}
	c := newActionServer(t)
	c.queue.refuse = errors.New("disk on fire")
	if got := c.call(withKey, "message.send", greeting); got.Result == nil || code(got.Result.Error) != "internal" || strings.Contains(got.Result.Error, "fire") {
		t.Errorf("a plain error: %+v", got)
	}
	c.queue.refuse = hearken.Errorf(hearken.Unauthorized, "Invalid API key").WithTry("hearken keys list")
	if got := c.call(withKey, "message.send", greeting); got.Error == nil || got.Error.Code != 401 || got.Error.Message != "Invalid API key" {
		t.Errorf("a key that is gone: %+v", got)
	}
}

func TestActions_BadArguments(t *testing.T) {
	c := newActionServer(t)
	for _, tt := range []struct {
		tool string
		args any
		want string
	}{
		{"calendar.create", object{"start": "x", "duration_min": 30}, "title is required"},
		{"calendar.create", object{"title": "x", "start": "x"}, "duration_min is required"},
		{"calendar.create", object{"title": "x", "start": "x", "duration_min": "30"}, "duration_min must be a number"},
		{"calendar.create", object{"title": "x", "start": "x", "duration_min": 30, "confirmed": true}, "no argument"},
		{"message.send", object{"to": "x", "text": "x", "approve": "yes"}, "no argument"},
		{"message.send", object{"to": "x", "text": "x", "evidence": object{"approved": true}}, "no argument"},
		{"message.send", object{"to": "x", "text": "x", "idempotency_key": strings.Repeat("x", 201)}, "idempotency_key"},
		{"message.send", object{"to": "x", "text": "x", "evidence": object{"quote": strings.Repeat("x", 1<<20)}}, "evidence is too long"},
		{"message.send", object{"to": "x", "text": "x", "evidence": object{"segment_ids": make([]string, 101)}}, "segment_ids"},
		{"reminder.create", []int{1}, "must be an object"},
		{"action.status", object{}, "id is required"},
		{"action.cancel", object{"id": "evt_nothing"}, "not_found"},
	} {
		got := c.call(withKey, tt.tool, tt.args)
		if got.Result == nil || got.Result.Status != "error" || !got.Result.IsError || !strings.Contains(got.Result.Error, tt.want) {
			t.Errorf("%s %.80v: %+v, want %q", tt.tool, tt.args, got, tt.want)
		}
	}
	if len(c.queue.requests) != 0 {
		t.Errorf("%d of them were proposed", len(c.queue.requests))
	}
}

func TestActions_Names(t *testing.T) {
	c := newActionServer(t)
	dotted := []string{"action.cancel", "action.status", "calendar.create", "message.send", "reminder.create"}
	plain := []string{"action_cancel", "action_status", "calendar_create", "message_send", "reminder_create"}
	for _, tt := range []struct {
		name   string
		caller hearken.Caller
		want   []string
	}{
		{"WebSocket", onWS, dotted},
		{"HTTP", withKey, plain},
		{"stdio", local, plain},
		{"NoKey", loopback, nil},
		{"NoActions", hearken.Caller{Principal: "key_a", Toolsets: []string{"transcription"}}, nil},
		{"OnlyActions", hearken.Caller{Principal: "key_a", Toolsets: []string{"actions"}, Transport: hearken.TransportWebSocket}, dotted},
		{"ReadOnly", hearken.Caller{Principal: "key_a", Toolsets: []string{"read"}}, []string{"action_status"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client := connect(t, c.factory.Server(tt.caller))
			list, err := client.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, tool := range list.Tools {
				if slices.Contains(dotted, tool.Name) || slices.Contains(plain, tool.Name) {
					got = append(got, tool.Name)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			mentioned := strings.Contains(client.InitializeResult().Instructions, "approval_pending")
			if want := len(tt.want) > 1; mentioned != want {
				t.Errorf("the instructions tell of actions: %t", mentioned)
			}
		})
	}
}

func TestActions_WhoMayNot(t *testing.T) {
	type refusal struct {
		principal, tool string
		code            hearken.Code
	}
	var refusals []refusal
	c := newActionServer(t, func(o *mcpserver.Options) {
		o.OnRefused = func(_ context.Context, principal, tool string, code hearken.Code) {
			refusals = append(refusals, refusal{principal, tool, code})
		}
	})
	reader := hearken.Caller{Principal: "key_r", Toolsets: []string{"read"}}
	for _, tool := range []string{"message.send", "message_send"} {
		got := c.call(loopback, tool, greeting)
		if got.Error == nil || got.Error.Code != 401 || got.Error.Message != "Invalid API key" || !strings.Contains(got.Error.Data["try"].(string), "hearken keys create") {
			t.Errorf("without a key: %+v", got)
		}
		if got := c.call(reader, tool, greeting); got.Result == nil || code(got.Result.Error) != "scope_denied" || got.Result.IsError {
			t.Errorf("with a key that may only read: %+v", got)
		}
	}
	want := []refusal{
		{"loopback", "message.send", "unauthorized"}, {"key_r", "message.send", "scope_denied"},
		{"loopback", "message.send", "unauthorized"}, {"key_r", "message.send", "scope_denied"},
	}
	if diff := cmp.Diff(want, refusals, cmp.AllowUnexported(refusal{})); diff != "" {
		t.Error(diff)
	}
	if len(c.queue.requests) != 0 {
		t.Error("something was proposed")
	}
	// A hub without actions knows none of it.
	none := mcpserver.New(mcpserver.Options{})
	if got := parse(t, rawCall(t, none.Server(withKey), object{"name": "message.send", "arguments": greeting})); got.Error == nil || got.Error.Code != -32602 {
		t.Errorf("a hub without actions: %+v", got)
	}
}

func TestActions_StatusAndCancel(t *testing.T) {
	c := newActionServer(t, func(o *mcpserver.Options) { o.ActionWait = time.Nanosecond })
	id := c.call(withKey, "message.send", greeting).Result.ID
	if got := c.call(withKey, "action.status", object{"id": id}); code(got.Result.Error) != "approval_pending" || got.Result.ID != id || got.Result.IsError {
		t.Errorf("pending: %+v", got)
	}
	for _, tool := range []string{"action.status", "action.cancel"} {
		if got := c.call(otherKey, tool, object{"id": id}); code(got.Result.Error) != "not_found" {
			t.Errorf("another's action: %+v", got)
		}
	}
	if got := c.call(withKey, "action_cancel", object{"id": id}); got.Result.Status != "ok" || got.Result.ID != id {
		t.Errorf("cancel: %+v", got)
	}
	if got := c.call(withKey, "action.status", object{"id": id}); code(got.Result.Error) != "cancelled" {
		t.Errorf("cancelled: %+v", got)
	}
	if n := c.queue.done(); n != 0 {
		t.Errorf("%d effects", n)
	}
}

// A call waits, says how far it is, and then says what to do; the same call
// again is about the same action.
func TestActions_Waits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newActionServer(t)
		var mu sync.Mutex
		var messages []string
		client := c.connect(t, withKey, "", &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			mu.Lock()
			defer mu.Unlock()
			messages = append(messages, r.Params.Message)
		}})
		begin := time.Now()
		params := &mcp.CallToolParams{Name: "calendar_create", Arguments: morning}
		params.SetProgressToken("p")
		first := outcomeOf(t, client, params)
		if code(first["error"]) != "approval_pending" || first["status"] != "error" || first["id"] == "" {
			t.Errorf("after the wait: %v", first)
		}
		if waited := time.Since(begin); waited != 45*time.Second {
			t.Errorf("waited for %v", waited)
		}
		synctest.Wait()
		mu.Lock()
		if len(messages) != 8 || !strings.Contains(messages[0], first["id"]) {
			t.Errorf("progress: %q", messages)
		}
		mu.Unlock()
		go func() {
			<-time.After(7 * time.Second)
			c.queue.owner(t, c.queue.pending(t), true)
		}()
		second := outcomeOf(t, client, &mcp.CallToolParams{Name: "calendar_create", Arguments: morning})
		if diff := cmp.Diff(map[string]string{"status": "ok", "id": first["id"]}, second); diff != "" {
			t.Error(diff)
		}
		if waited := time.Since(begin); waited != 52*time.Second {
			t.Errorf("the answer came after %v", waited)
		}
		if third := outcomeOf(t, client, &mcp.CallToolParams{Name: "calendar_create", Arguments: morning}); !cmp.Equal(second, third) || c.queue.done() != 1 {
			t.Errorf("once more: %v, %d effects", third, c.queue.done())
		}
	})
}

// During a call nobody decides, so nobody waits.
func TestActions_DuringACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newActionServer(t)
		c.queue.call = "a call"
		begin := time.Now()
		if got := c.call(withKey, "message.send", greeting); code(got.Result.Error) != "approval_pending" || got.Result.ID == "" {
			t.Errorf("%+v", got)
		}
		if waited := time.Since(begin); waited != 0 {
			t.Errorf("the answer came after %v", waited)
		}
	})
}

func TestActions_DeniedWhileWaiting(t *testing.T) {
	c := newActionServer(t)
	go func() { c.queue.owner(t, c.queue.pending(t), false) }()
	if got := c.call(withKey, "message.send", greeting); code(got.Result.Error) != "denied" || got.Result.ID == "" || got.Result.IsError {
		t.Errorf("%+v", got)
	}
}

// A hub that stops has every call answered at once.
func TestFactory_Close(t *testing.T) {
	c := newActionServer(t)
	go func() {
		c.queue.pending(t)
		c.factory.Close()
	}()
	if got := c.call(withKey, "message.send", greeting); code(got.Result.Error) != "approval_pending" || got.Result.ID == "" {
		t.Errorf("%+v", got)
	}
}

func TestActions_ClientCancels(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		c := newActionServer(t)
		client := c.connect(t, withKey, version, nil)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { c.queue.pending(t); cancel() }()
		if _, err := client.CallTool(ctx, &mcp.CallToolParams{Name: "message_send", Arguments: greeting}); err == nil {
			t.Error("a cancelled call was answered")
		}
		for id := range c.queue.actions {
			if got := c.queue.settled(t, id); got != hearken.ActionCancelled {
				t.Errorf("%s: the action is %s", version, got)
			}
		}
	}
}

// A client that lost its connection may come back: its action remains pending.
func TestActions_ConnectionIsLost(t *testing.T) {
	c := newActionServer(t)
	here, there := io.Pipe()
	served, err := c.factory.Server(withKey).Connect(t.Context(), &mcp.IOTransport{Reader: here, Writer: nopCloser{io.Discard}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(there, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}`+"\n")
	io.WriteString(there, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	io.WriteString(there, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"message.send","arguments":{"to":"Bob","text":"hello"}}}`+"\n")
	a := c.queue.pending(t)
	there.Close()
	served.Wait()
	if got, err := c.queue.Action(t.Context(), a.ID); err != nil || got.State != hearken.ActionPending {
		t.Errorf("the action is %v, %v", got, err)
	}
	if a.Client != "a 1" {
		t.Errorf("client = %q", a.Client)
	}
}

// A key that is revoked while its call waits: the transport says so as the cause.
func TestActions_KeyRevokedMidCall(t *testing.T) {
	c := newActionServer(t)
	s := c.factory.Server(withKey)
	ctx, revoke := context.WithCancelCause(t.Context())
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(_ context.Context, method string, req mcp.Request) (mcp.Result, error) {
			return next(ctx, method, req)
		}
	})
	go func() {
		c.queue.pending(t)
		revoke(hearken.Errorf(hearken.Unauthorized, "Invalid API key"))
	}()
	got := parse(t, rawCall(t, s, object{"name": "message.send", "arguments": greeting}))
	if got.Error == nil || got.Error.Code != 401 || got.Error.Message != "Invalid API key" {
		t.Errorf("%+v", got)
	}
	if a := c.queue.pending(t); a == nil || c.queue.done() != 0 {
		t.Error("the action did not stay as it was")
	}
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// connect joins a client of a protocol version to a caller's server.
func (c *actionServer) connect(t *testing.T, caller hearken.Caller, version string, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	ours, theirs := mcp.NewInMemoryTransports()
	served, err := c.factory.Server(caller).Connect(t.Context(), ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "7"}, opts).Connect(t.Context(), theirs, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		served.Wait()
	})
	return client
}

// outcomeOf calls an action and returns its structure.
func outcomeOf(t *testing.T, client *mcp.ClientSession, params *mcp.CallToolParams) map[string]string {
	t.Helper()
	res, err := client.CallTool(t.Context(), params)
	if err != nil {
		t.Error(err)
		return nil
	}
	out := map[string]string{}
	members, ok := res.StructuredContent.(object)
	if !ok {
		t.Errorf("no structure: %+v", res)
	}
	for name, v := range members {
		out[name], _ = v.(string)
	}
	return out
}
