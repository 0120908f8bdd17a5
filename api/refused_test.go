package api

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
)

func TestRefused(t *testing.T) {
	type visit struct {
		addr, route string
		code        hearken.Code
	}
	var mu sync.Mutex
	var got []visit
	h := start(t, func(c *Config) {
		c.Refused = func(_ context.Context, addr, route string, code hearken.Code) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, visit{addr, route, code})
		}
	})
	_, secret := h.keys.add()
	h.do(t, "POST", "/mcp", callIt) // let in
	h.do(t, "POST", "/mcp", callIt, "Authorization: Bearer "+secret)
	h.do(t, "POST", "/mcp", callIt, "Authorization: Bearer hk_wrong")
	h.do(t, "POST", "/mcp", callIt, "Host: evil.example")
	c, _, err := h.dial(t, h.WSURL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	roundTrip(t, c, callIt)
	mu.Lock()
	defer mu.Unlock()
	want := []visit{{"127.0.0.1", "mcp", "unauthorized"}, {"127.0.0.1", "mcp", "forbidden"}, {"127.0.0.1", "mcp_ws", "unauthorized"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(visit{})); diff != "" {
		t.Error(diff)
	}
}

// Who approves what a key asks for comes along, and a change of it is a new
// server.
func TestCaller_Approver(t *testing.T) {
	h := start(t)
	_, secret := h.keys.add()
	auth := "Authorization: Bearer " + secret
	approvers := func() (out []string) {
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, c := range h.callers {
			out = append(out, c.Approver)
		}
		return out
	}
	h.do(t, "POST", "/mcp", callIt, auth)
	h.keys.mu.Lock()
	h.keys.keys[0].Approver = hearken.ApproverClient
	h.keys.mu.Unlock()
	eventually(t, "the change is known", func() bool {
		h.do(t, "POST", "/mcp", callIt, auth)
		return slices.Contains(approvers(), hearken.ApproverClient)
	})
	// A call that was let in just before the change may have had a server anew.
	if diff := cmp.Diff([]string{"", hearken.ApproverClient}, slices.Compact(approvers())); diff != "" {
		t.Error(diff)
	}
}

// A key that is revoked while a call of it waits: a call of the newest version
// ends, and its handler knows why.
func TestMCP_RevokedMidCall(t *testing.T) {
	h := start(t)
	id, secret := h.keys.add()
	call := strings.Replace(callOn, `"arguments":{}`, `"arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}`, 1)
	go func() {
		<-h.entered
		h.keys.revoke(id)
	}()
	h.do(t, "POST", "/mcp", call, "Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: wait",
		"Accept: application/json, text/event-stream", "Content-Type: application/json", "Authorization: Bearer "+secret)
	if cause := <-h.cancelled; hearken.CodeOf(cause) != hearken.Unauthorized || cause.Error() != "Invalid API key" {
		t.Errorf("ended because %v", cause)
	}
}

// In a session nothing ends a call but its client; its answer is the door's.
func TestMCP_RevokedMidCallOfASession(t *testing.T) {
	h := start(t)
	id, secret := h.keys.add()
	session := h.session(t, secret)
	go func() {
		<-h.entered
		h.keys.revoke(id)
	}()
	_, body := h.do(t, "POST", "/mcp", callOn, "Mcp-Protocol-Version: 2025-11-25", "Mcp-Session-Id: "+session,
		"Accept: application/json, text/event-stream", "Content-Type: application/json", "Authorization: Bearer "+secret)
	if want := `data: {"jsonrpc":"2.0","id":7,"error":{"code":401,"message":"Invalid API key"}}`; !strings.Contains(body, want) {
		t.Errorf("%s lacks %s", body, want)
	}
	h.release <- struct{}{}
}
