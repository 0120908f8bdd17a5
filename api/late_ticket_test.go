package api

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/hearken-dev/hearken"
)

// redeemer is a handler for audio that takes a message as its ticket and answers
// with the principal or the code of the error.
func redeemer(w http.ResponseWriter, r *http.Request) {
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return
	}
	defer ws.CloseNow()
	if CallerFrom(r.Context()) != nil {
		_ = ws.Write(r.Context(), websocket.MessageText, []byte("has a caller"))
		return
	}
	for {
		_, ticket, err := ws.Read(context.Background())
		if err != nil {
			return
		}
		var answer string
		if caller, err := RedeemTicket(r.Context(), string(ticket)); err != nil {
			answer = string(hearken.CodeOf(err))
		} else {
			answer = caller.Principal
		}
		_ = ws.Write(context.Background(), websocket.MessageText, []byte(answer))
	}
}

func withRedeemer(c *Config) {
	withExtras(c)
	c.Audio = http.HandlerFunc(redeemer)
	c.AuthRequired = true
}

// show sends a ticket and returns the answer.
func show(t *testing.T, ws *websocket.Conn, ticket string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := ws.Write(ctx, websocket.MessageText, []byte(ticket)); err != nil {
		t.Fatal(err)
	}
	_, answer, err := ws.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

func (h *hub) audioAddress() string { return "ws" + strings.TrimPrefix(h.URL(), "http") + "/audio/s1" }

// A WebSocket without a ticket is let in without a caller, and may show one.
func TestLateTicket(t *testing.T) {
	var refused atomic.Int32
	h := start(t, withRedeemer, func(c *Config) {
		c.OnRefused = func(context.Context, string, string, hearken.Code) { refused.Add(1) }
	})
	for ticket, want := range map[string]string{"t1cket": "local", "wrong": "unauthorized"} {
		ws, _, err := h.dial(t, h.audioAddress(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := show(t, ws, ticket); got != want {
			t.Errorf("%s: %s, want %s", ticket, got, want)
		}
	}
	if refused.Load() != 1 {
		t.Errorf("%d refusals were reported", refused.Load())
	}
	// Nothing else is let in without one.
	for _, path := range []string{"/audio/s1", "/metrics"} {
		if res, _ := h.do(t, "GET", path, ""); res.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: %s", path, res.Status)
		}
	}
	for header, want := range map[string]int{"Origin: https://evil.example": 403, "Authorization: Bearer hk_wrong": 401} {
		if _, res, err := h.dial(t, h.audioAddress(), nil, header); err == nil || res.StatusCode != want {
			t.Errorf("%s: %v", header, err)
		}
	}
	if _, err := RedeemTicket(t.Context(), "t1cket"); hearken.CodeOf(err) != hearken.Unauthorized {
		t.Errorf("outside of a request: %v", err)
	}
}

// Only a few may wait, and not for long.
func TestLateTicket_Bounds(t *testing.T) {
	h := start(t, withRedeemer, func(c *Config) { c.Limits.LateTickets, c.Limits.RejectionRead = 1, time.Minute })
	first, _, err := h.dial(t, h.audioAddress(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, res, err := h.dial(t, h.audioAddress(), nil); err == nil || res.StatusCode != http.StatusUnauthorized {
		t.Errorf("the second that waits: %v", err)
	}
	if got := show(t, first, "t1cket"); got != "local" {
		t.Error(got)
	}
	if _, _, err := h.dial(t, h.audioAddress(), nil); err != nil {
		t.Errorf("after the first has shown its ticket: %v", err)
	}

	short := start(t, withRedeemer, func(c *Config) { c.Limits.RejectionRead = 50 * time.Millisecond })
	known, _, err := short.dial(t, short.audioAddress(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := show(t, known, "t1cket"); got != "local" {
		t.Error(got)
	}
	silent, _, err := short.dial(t, short.audioAddress(), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, _, err := silent.Read(ctx); err == nil || ctx.Err() != nil {
		t.Errorf("the one that shows nothing stays: %v", err)
	}
	if got := show(t, known, "t1cket"); got != "local" { // which is still there
		t.Error(got)
	}
}

// A ticket that was shown late is valid as long as its key, too.
func TestLateTicket_OfAKey(t *testing.T) {
	var starter string
	h := start(t, withRedeemer, func(c *Config) {
		c.CheckTicket = func(string, string) (string, bool) { return starter, true }
	})
	starter, _ = h.keys.add("read")
	ws, _, err := h.dial(t, h.audioAddress(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := show(t, ws, "x"); got != starter {
		t.Error(got)
	}
	h.keys.revoke(starter)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, _, err := ws.Read(ctx); err == nil || ctx.Err() != nil {
		t.Errorf("the socket stays: %v", err)
	}
	eventually(t, "the key is free", func() bool { return h.API.keys.running.Load() == 0 })
}
