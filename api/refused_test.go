package api

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

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
		c.OnRefused = func(_ context.Context, addr, route string, code hearken.Code) {
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

// The approver of a key reaches the MCP server, and a change of it gets a new
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
	h.keys.setApprover(hearken.ApproverClient)
	eventually(t, "the change is known", func() bool {
		h.do(t, "POST", "/mcp", callIt, auth)
		return slices.Contains(approvers(), hearken.ApproverClient)
	})
	if diff := cmp.Diff([]string{"", hearken.ApproverClient}, slices.Compact(approvers())); diff != "" {
		t.Error(diff)
	}
}

// A key is revoked during a call of the newest version: the call ends, and its
// handler learns why.
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

// In a session only the client can end a call. If the key is revoked, the
// transport answers it.
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

// A call that the guard let in before its key changed still has the old rights.
// It must not leave them to the calls that follow.
func TestCaller_KeyChangesDuringACall(t *testing.T) {
	h := start(t, func(c *Config) {
		c.MCP = func(c hearken.Caller) *mcp.Server {
			s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
			mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "says who approves"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "approver=" + c.Approver}}}, nil, nil
			})
			return s
		}
	})
	_, secret := h.keys.add()
	h.keys.setApprover(hearken.ApproverClient)
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{}}}`

	h.changeKeyDuring(t, call, "Authorization: Bearer "+secret)

	_, body := h.do(t, "POST", "/mcp", call, "Authorization: Bearer "+secret)
	if !strings.Contains(body, `"approver="`) {
		t.Errorf("the call after the change was served as before it: %s", body)
	}
}

// A session may begin just after those of its changed key were ended. It has the
// old rights, so nobody can use it.
func TestCaller_SessionBeginsDuringAChange(t *testing.T) {
	h := start(t)
	_, secret := h.keys.add()
	h.keys.setApprover(hearken.ApproverClient)
	session := h.session(t, secret)
	h.API.keys.mu.Lock()
	h.API.keys.onRevoke = func(string) {} // which had ended the sessions before this one began
	h.API.keys.mu.Unlock()
	h.keys.setApprover("")
	if _, err := h.API.keys.load(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	res, body := h.do(t, "POST", "/mcp", callIt, "Mcp-Session-Id: "+session, "Mcp-Protocol-Version: 2025-11-25",
		"Accept: application/json, text/event-stream", "Content-Type: application/json", "Authorization: Bearer "+secret)
	if res.StatusCode != http.StatusNotFound {
		t.Errorf("a session with the old rights was used: %s: %s", res.Status, body)
	}
}

// changeKeyDuring posts a message to /mcp, and takes the approver from the first
// key after the guard let the request in and before its body has arrived. It
// returns the raw answer.
func (h *hub) changeKeyDuring(t *testing.T, message string, headers ...string) string {
	t.Helper()
	conn, err := net.Dial("tcp", h.main.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n%s\r\nConnection: close\r\nContent-Length: %d\r\n\r\n", strings.Join(headers, "\r\n"), len(message))
	eventually(t, "the request is let in", func() bool { return h.API.keys.running.Load() > 0 })
	h.keys.setApprover("")
	if _, err := h.API.keys.load(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, message); err != nil {
		t.Fatal(err)
	}
	answer, _ := io.ReadAll(conn) // it may end in any way
	return string(answer)
}
