package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"pgregory.net/rapid"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/mcpserver"
)

// Whatever comes when, no minute has more than the limit, and nothing is
// refused that would fit.
func TestLimiter_Property(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 7).Draw(t, "limit")
		take := mcpserver.NewLimiterAt(limit)
		var admitted []time.Duration
		now := time.Duration(0)
		for range rapid.IntRange(1, 60).Draw(t, "requests") {
			now += rapid.OneOf(
				rapid.Just(time.Duration(0)), rapid.Just(time.Nanosecond), rapid.Just(time.Minute),
				rapid.Map(rapid.Int64Range(0, int64(70*time.Second)), func(n int64) time.Duration { return time.Duration(n) }),
			).Draw(t, "pause")
			within := 0 // of those in the minute that ends now
			for _, at := range admitted {
				if now-at <= time.Minute {
					within++
				}
			}
			wait := take(now)
			if (wait == 0) != (within < limit) {
				t.Fatalf("at %v with %d of %d in the last minute: wait %v", now, within, limit, wait)
			}
			if wait == 0 {
				admitted = append(admitted, now)
				continue
			}
			// It is right about when to come back, and that asking costs nothing.
			if oldest := admitted[len(admitted)-limit]; oldest+time.Minute+1 != now+wait {
				t.Fatalf("at %v: wait %v although the oldest was at %v", now, wait, oldest)
			}
		}
	})
}

// Many connections of one key, over two transports, all at once: of all that is
// asked, any minute lets a hundred through.
func TestLimit_Flood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reports atomic.Int64
		c := newActionServer(t, func(o *mcpserver.Options) {
			o.Limit = 0
			o.OnLimited = func(principal string) {
				if principal != "key_a" {
					t.Errorf("limited %q", principal)
				}
				reports.Add(1)
			}
		})
		var mu sync.Mutex
		var admitted []time.Time
		var flood sync.WaitGroup
		for i := range 8 {
			caller := withKey
			if i%2 == 0 {
				caller = onWS
			}
			client := c.bare(t, caller)
			flood.Go(func() {
				for range 500 {
					err := client("tools/list", nil)
					if err == nil {
						mu.Lock()
						admitted = append(admitted, time.Now())
						mu.Unlock()
					}
					<-time.After(time.Duration(200+i*17) * time.Millisecond)
				}
			})
		}
		flood.Wait()
		slices.SortFunc(admitted, time.Time.Compare)
		most := 0
		for i, at := range admitted {
			n := 0
			for _, later := range admitted[i:] {
				if later.Sub(at) <= time.Minute {
					n++
				}
			}
			most = max(most, n)
		}
		if most != 100 {
			t.Errorf("%d requests within a minute", most)
		}
		if n := reports.Load(); n < 2 || n > 3 {
			t.Errorf("told %d times in less than three minutes", n)
		}
		// Another key is another's.
		if err := c.bare(t, otherKey)("tools/list", nil); err != nil {
			t.Errorf("another key: %v", err)
		}
	})
}

// bare connects a client that sends only what the test makes it send.
func (c *actionServer) bare(t *testing.T, caller hearken.Caller) func(method string, params any) error {
	t.Helper()
	ours, theirs := mcp.NewInMemoryTransports()
	served, err := c.factory.Server(caller).Connect(t.Context(), ours, &mcp.ServerSessionOptions{State: &mcp.ServerSessionState{
		InitializeParams: &mcp.InitializeParams{ProtocolVersion: "2025-11-25"}, InitializedParams: &mcp.InitializedParams{},
	}})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := theirs.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close()
		served.Wait()
	})
	n := int64(0)
	return func(method string, params any) error {
		n++
		id, _ := jsonrpc.MakeID(float64(n))
		req := &jsonrpc.Request{ID: id, Method: method}
		if params != nil {
			req.Params, _ = json.Marshal(params)
		}
		ctx := context.Background()
		if err := conn.Write(ctx, req); err != nil {
			return err
		}
		m, err := conn.Read(ctx)
		if err != nil {
			return err
		}
		res, ok := m.(*jsonrpc.Response)
		if !ok || res.ID != id {
			return io.ErrUnexpectedEOF
		}
		return res.Error
	}
}

func limited(err error) (int64, string) {
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return e.Code, e.Message + " " + string(e.Data)
	}
	return 0, ""
}

func TestLimit_Answer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newActionServer(t, func(o *mcpserver.Options) { o.Limit = 2 })
		send := c.bare(t, withKey)
		for range 2 {
			if err := send("tools/list", nil); err != nil {
				t.Fatal(err)
			}
			<-time.After(10 * time.Second)
		}
		for range 5 {
			if code, text := limited(send("prompts/list", nil)); code != 429 || text != `Rate limit exceeded {"retry_after_ms":40001,"limit":2,"window_s":60}` {
				t.Errorf("%d %s", code, text)
			}
			if err := send("ping", nil); err != nil {
				t.Errorf("ping: %v", err)
			}
		}
		<-time.After(40001 * time.Millisecond)
		if err := send("tools/list", nil); err != nil {
			t.Errorf("after the time that was named: %v", err)
		}
		if code, _ := limited(send("tools/list", nil)); code != 429 {
			t.Errorf("and once more: %d", code)
		}
	})
}

// The owner's own processes read as much as they like, and act like any key.
func TestLimit_WithoutAKey(t *testing.T) {
	c := newActionServer(t, func(o *mcpserver.Options) { o.Limit = 2; o.ActionWait = time.Nanosecond })
	for _, caller := range []hearken.Caller{local, loopback} {
		send := c.bare(t, caller)
		for range 10 {
			if err := send("tools/list", nil); err != nil {
				t.Fatalf("%s: %v", caller.Principal, err)
			}
		}
	}
	send := c.bare(t, local)
	for i, tool := range []string{"message.send", "action_status", "message_send", "calendar.create"} {
		code, _ := limited(send("tools/call", object{"name": tool, "arguments": greeting}))
		if want := i >= 2; want != (code == 429) {
			t.Errorf("call %d of %s: %d", i+1, tool, code)
		}
	}
}

// What answers a question is not a request of its own, once.
func TestLimit_AnswersAreFree(t *testing.T) {
	c := newActionServer(t, func(o *mcpserver.Options) { o.Limit = 4 })
	state, retry := c.question(t, selfApproving, morning) // discover, and the call
	if got := retry(selfApproving, "calendar.create", morning, state, accept(object{"decision": "allow"})); got["status"] != "ok" {
		t.Errorf("%v", got)
	}
	var codes []string
	for range 2 {
		codes = append(codes, code(retry(selfApproving, "calendar.create", morning, state, accept(object{"decision": "allow"}))["error"]))
	}
	if want := []string{"approval_mismatch", "approval_mismatch"}; !slices.Equal(codes, want) {
		t.Errorf("replays: %q", codes)
	}
	send := c.bare(t, selfApproving)
	if code, _ := limited(send("tools/list", nil)); code != 429 {
		t.Errorf("the replays were not counted: %d", code)
	}
}
