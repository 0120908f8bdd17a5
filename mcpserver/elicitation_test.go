package mcpserver_test

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/mcpserver"
)

var selfApproving = hearken.Caller{Principal: "key_a", Approver: hearken.ApproverClient}

// generations are the protocol versions of either kind of client: one that is
// asked by the server, and one that calls again.
var generations = []string{"2025-11-25", "2026-07-28"}

// answeringForms is a client that answers forms with r, and counts them.
func answeringForms(forms *[]*mcp.ElicitParams, r *mcp.ElicitResult, err error) *mcp.ClientOptions {
	return &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		*forms = append(*forms, req.Params)
		return r, err
	}}
}

func accept(content object) *mcp.ElicitResult {
	return &mcp.ElicitResult{Action: "accept", Content: content}
}

func TestElicitation(t *testing.T) {
	for _, version := range generations {
		for _, tt := range []struct {
			name   string
			answer *mcp.ElicitResult
			want   string // the code, "" for done
		}{
			{"Allow", accept(object{"decision": "allow"}), ""},
			{"Deny", accept(object{"decision": "deny"}), "denied"},
			{"Decline", &mcp.ElicitResult{Action: "decline"}, "denied"},
			{"Cancel", &mcp.ElicitResult{Action: "cancel"}, "denied"},
			{"DeclineWithContent", &mcp.ElicitResult{Action: "decline", Content: object{"decision": "allow"}}, "denied"},
		} {
			t.Run(version+"/"+tt.name, func(t *testing.T) {
				c := newActionServer(t)
				var forms []*mcp.ElicitParams
				client := c.connect(t, selfApproving, version, answeringForms(&forms, tt.answer, nil))
				got := outcomeOf(t, client, &mcp.CallToolParams{Name: "calendar_create", Arguments: morning})
				if code(got["error"]) != tt.want || got["id"] == "" {
					t.Errorf("%v", got)
				}
				if n := c.queue.done(); (tt.want == "") != (n == 1) {
					t.Errorf("%d effects", n)
				}
				if len(forms) != 1 || !strings.Contains(forms[0].Message, "朝ラン") {
					t.Errorf("%d forms: %+v", len(forms), forms)
				}
				if v := c.queue.verdicts; len(v) != 1 || v[0].By != "client" || v[0].From != "elicitation" || v[0].Grant != nil {
					t.Errorf("verdicts: %+v", v)
				}
			})
		}
	}
}

// A form that does not hold a decision decides nothing, and neither does a
// client that fails to show one: the owner still can.
func TestElicitation_NoDecision(t *testing.T) {
	for _, version := range generations {
		for name, tt := range map[string]struct {
			answer *mcp.ElicitResult
			err    error
		}{
			"Empty":   {accept(object{}), nil},
			"Nothing": {accept(nil), nil},
			"Other":   {accept(object{"decision": "yes"}), nil},
			"Bool":    {accept(object{"decision": true}), nil},
			"More":    {accept(object{"decision": "allow", "always": true}), nil},
			"Action":  {&mcp.ElicitResult{Action: "approve", Content: object{"decision": "allow"}}, nil},
			"Fails":   {nil, errors.New("no screen")},
		} {
			t.Run(version+"/"+name, func(t *testing.T) {
				c := newActionServer(t)
				var forms []*mcp.ElicitParams
				client := c.connect(t, selfApproving, version, answeringForms(&forms, tt.answer, tt.err))
				client.CallTool(t.Context(), &mcp.CallToolParams{Name: "calendar_create", Arguments: morning})
				if n := c.queue.done(); n != 0 || len(c.queue.verdicts) != 0 {
					t.Errorf("%d effects, %d verdicts", n, len(c.queue.verdicts))
				}
				a := c.queue.pending(t)
				c.queue.owner(t, a, true)
				if got := outcomeOf(t, client, &mcp.CallToolParams{Name: "calendar_create", Arguments: morning}); got["status"] != "ok" || got["id"] != a.ID {
					t.Errorf("afterwards: %v", got)
				}
			})
		}
	}
}

// An old client that cannot ask after all gets the same result as the others.
func TestElicitation_FailsWithAnAnswer(t *testing.T) {
	c := newActionServer(t)
	var forms []*mcp.ElicitParams
	client := c.connect(t, selfApproving, "2025-11-25", answeringForms(&forms, nil, errors.New("no screen")))
	if got := outcomeOf(t, client, &mcp.CallToolParams{Name: "calendar_create", Arguments: morning}); code(got["error"]) != "approval_pending" || got["id"] == "" {
		t.Errorf("%v", got)
	}
}

func TestElicitation_NotForAll(t *testing.T) {
	yes := accept(object{"decision": "allow"})
	for _, tt := range []struct {
		name   string
		caller hearken.Caller
		change func(*mcp.ClientOptions)
		source hearken.Origin
	}{
		{"OwnerDecides", withKey, nil, hearken.Microphone},
		{"Stdio", local, nil, hearken.Microphone},
		{"NoCapability", selfApproving, func(o *mcp.ClientOptions) { o.ElicitationHandler = nil }, hearken.Microphone},
		{"OnlyURLs", selfApproving, func(o *mcp.ClientOptions) {
			o.Capabilities = &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}}}
		}, hearken.Microphone},
		{"TheFarSideSaidIt", selfApproving, nil, hearken.System},
	} {
		for _, version := range generations {
			t.Run(tt.name+"/"+version, func(t *testing.T) {
				c := newActionServer(t, func(o *mcpserver.Options) { o.ActionWait = time.Nanosecond })
				c.queue.source = tt.source
				var forms []*mcp.ElicitParams
				opts := answeringForms(&forms, yes, nil)
				if tt.change != nil {
					tt.change(opts)
				}
				got := outcomeOf(t, c.connect(t, tt.caller, version, opts), &mcp.CallToolParams{Name: "calendar_create", Arguments: morning})
				if code(got["error"]) != "approval_pending" || len(forms) != 0 || c.queue.done() != 0 {
					t.Errorf("%v, %d forms, %d effects", got, len(forms), c.queue.done())
				}
			})
		}
	}
}

// question makes a call by hand and returns the state that came with the
// question.
func (c *actionServer) question(t *testing.T, caller hearken.Caller, args object) (state string, retry func(caller hearken.Caller, tool string, args object, state string, answer *mcp.ElicitResult) map[string]string) {
	t.Helper()
	clients := map[string]*mcp.ClientSession{}
	client := func(caller hearken.Caller) *mcp.ClientSession {
		who := caller.Principal + caller.Approver
		if clients[who] == nil {
			var forms []*mcp.ElicitParams
			opts := answeringForms(&forms, nil, errors.New("not asked"))
			opts.MultiRoundTrip = &mcp.MultiRoundTripOptions{Disabled: true}
			clients[who] = c.connect(t, caller, "2026-07-28", opts)
		}
		return clients[who]
	}
	res, err := client(caller).CallTool(t.Context(), &mcp.CallToolParams{Name: "calendar.create", Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	if !res.NeedsInput() || len(res.InputRequests) != 1 || res.RequestState == "" {
		t.Fatalf("no question: %+v", res)
	}
	return res.RequestState, func(caller hearken.Caller, tool string, args object, state string, answer *mcp.ElicitResult) map[string]string {
		t.Helper()
		params := &mcp.CallToolParams{Name: tool, Arguments: args, RequestState: state}
		if answer != nil {
			params.InputResponses = mcp.InputResponseMap{"confirm": answer}
		}
		return outcomeOf(t, client(caller), params)
	}
}

func TestElicitation_StateIsBound(t *testing.T) {
	yes := accept(object{"decision": "allow"})
	other := object{"title": "朝ラン", "start": "2026-09-19T07:00:00+09:00", "duration_min": 31}
	reordered := object{"duration_min": 30.0, "start": "2026-09-19T07:00:00+09:00", "title": "朝ラン"}
	forged := func(change func(string) string) func(string) string {
		return func(state string) string {
			body, mac, _ := strings.Cut(state, ".")
			b, _ := base64.RawURLEncoding.DecodeString(body)
			return base64.RawURLEncoding.EncodeToString([]byte(change(string(b)))) + "." + mac
		}
	}
	same := func(s string) string { return s }
	for _, tt := range []struct {
		name   string
		caller hearken.Caller
		tool   string
		args   object
		state  func(string) string
		want   string
	}{
		{"AsItWas", selfApproving, "calendar.create", morning, same, ""},
		{"TheOtherName", selfApproving, "calendar_create", morning, same, ""},
		{"AnotherOrder", selfApproving, "calendar.create", reordered, same, ""},
		{"OtherArguments", selfApproving, "calendar.create", other, same, "approval_mismatch"},
		{"AnotherTool", selfApproving, "message.send", greeting, same, "approval_mismatch"},
		{"AnotherKey", hearken.Caller{Principal: "key_b", Approver: hearken.ApproverClient}, "calendar.create", morning, same, "approval_mismatch"},
		{"NoLongerAllowed", withKey, "calendar.create", morning, same, "approval_mismatch"},
		{"Forged", selfApproving, "calendar.create", morning, forged(func(s string) string { return strings.Replace(s, "key_a", "key_b", 1) }), "approval_mismatch"},
		{"Cut", selfApproving, "calendar.create", morning, func(s string) string { return s[:len(s)-2] }, "approval_mismatch"},
		{"NoSeal", selfApproving, "calendar.create", morning, func(s string) string { s, _, _ = strings.Cut(s, "."); return s }, "approval_mismatch"},
		{"Nonsense", selfApproving, "calendar.create", morning, func(string) string { return "%%" }, "approval_mismatch"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newActionServer(t)
			state, retry := c.question(t, selfApproving, morning)
			got := retry(tt.caller, tt.tool, tt.args, tt.state(state), yes)
			if code(got["error"]) != tt.want {
				t.Errorf("%v, want %q", got, tt.want)
			}
			if n := c.queue.done(); (tt.want == "") != (n == 1) {
				t.Errorf("%d effects", n)
			}
		})
	}
}

func TestElicitation_StateIsUsedOnce(t *testing.T) {
	yes, no := accept(object{"decision": "allow"}), &mcp.ElicitResult{Action: "decline"}
	for name, answers := range map[string][2]*mcp.ElicitResult{"Twice": {yes, yes}, "NoThenYes": {no, yes}, "YesThenNo": {yes, no}} {
		t.Run(name, func(t *testing.T) {
			c := newActionServer(t)
			state, retry := c.question(t, selfApproving, morning)
			first := retry(selfApproving, "calendar.create", morning, state, answers[0])
			for range 3 {
				if got := retry(selfApproving, "calendar.create", morning, state, answers[1]); code(got["error"]) != "approval_mismatch" {
					t.Errorf("again: %v", got)
				}
			}
			want := 0
			if first["status"] == "ok" {
				want = 1
			}
			if c.queue.done() != want || len(c.queue.verdicts) != 1 {
				t.Errorf("%d effects of %d verdicts", c.queue.done(), len(c.queue.verdicts))
			}
		})
	}
}

// Two decide at the same time: the first counts, and the client learns how it
// ended.
func TestElicitation_TheOwnerWasFaster(t *testing.T) {
	c := newActionServer(t)
	state, retry := c.question(t, selfApproving, morning)
	c.queue.owner(t, c.queue.pending(t), false)
	if got := retry(selfApproving, "calendar.create", morning, state, accept(object{"decision": "allow"})); code(got["error"]) != "denied" || c.queue.done() != 0 {
		t.Errorf("%v, %d effects", got, c.queue.done())
	}
}

func TestElicitation_Expires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newActionServer(t)
		state, retry := c.question(t, selfApproving, morning)
		<-time.After(c.queue.life)
		if got := retry(selfApproving, "calendar.create", morning, state, accept(object{"decision": "allow"})); code(got["error"]) != "approval_expired" || c.queue.done() != 0 {
			t.Errorf("%v, %d effects", got, c.queue.done())
		}
	})
}

// A call that comes back without an answer is asked again.
func TestElicitation_NoAnswer(t *testing.T) {
	c := newActionServer(t)
	state, _ := c.question(t, selfApproving, morning)
	var forms []*mcp.ElicitParams
	client := c.connect(t, selfApproving, "2026-07-28", answeringForms(&forms, accept(object{"decision": "allow"}), nil))
	got := outcomeOf(t, client, &mcp.CallToolParams{Name: "calendar.create", Arguments: morning, RequestState: state})
	if got["status"] != "ok" || len(forms) != 1 || c.queue.done() != 1 {
		t.Errorf("%v after %d forms", got, len(forms))
	}
}

// A question outlives the process that asked it if its key does.
func TestElicitation_AfterARestart(t *testing.T) {
	key := []byte(strings.Repeat("k", 32))
	c := newActionServer(t, func(o *mcpserver.Options) { o.StateKey = key })
	state, _ := c.question(t, selfApproving, morning)
	for name, tt := range map[string]struct {
		key  []byte
		want map[string]string
	}{
		"AnotherKey": {nil, nil},
		"SameKey":    {key, map[string]string{"status": "ok"}},
	} {
		after := &actionServer{t: t, queue: c.queue, factory: mcpserver.New(mcpserver.Options{Actions: c.queue, StateKey: tt.key})}
		var forms []*mcp.ElicitParams
		client := after.connect(t, selfApproving, "2026-07-28", answeringForms(&forms, nil, errors.New("not asked")))
		got := outcomeOf(t, client, &mcp.CallToolParams{
			Name: "calendar.create", Arguments: morning, RequestState: state,
			InputResponses: mcp.InputResponseMap{"confirm": accept(object{"decision": "allow"})},
		})
		delete(got, "id")
		if tt.want != nil && !cmp.Equal(got, tt.want) || tt.want == nil && code(got["error"]) != "approval_mismatch" {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A client that is being asked and gives up has its action cancelled.
func TestElicitation_ClientCancels(t *testing.T) {
	c := newActionServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	client := c.connect(t, selfApproving, "2025-11-25", &mcp.ClientOptions{ElicitationHandler: func(asking context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		cancel()
		<-asking.Done()
		return nil, asking.Err()
	}})
	if _, err := client.CallTool(ctx, &mcp.CallToolParams{Name: "calendar_create", Arguments: morning}); err == nil {
		t.Error("a cancelled call was answered")
	}
	for id := range c.queue.actions {
		if got := c.queue.settled(t, id); got != hearken.ActionCancelled {
			t.Errorf("the action is %s", got)
		}
	}
}
