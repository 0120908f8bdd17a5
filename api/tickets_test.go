package api

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
)

type issued struct {
	Ticket, URL string
	ExpiresIn   int
}

// issue gets a ticket at an address.
func (h *hub) issue(t *testing.T, address, secret string) (*http.Response, issued) {
	t.Helper()
	res, body := h.do(t, "POST", address+"/v1/ws-ticket", "", "Authorization: Bearer "+secret)
	var b issued
	if err := json.Unmarshal([]byte(body), &b); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return res, b
}

// The official SDK's WebSocket client sends no header and offers "mcp".
func TestTicket(t *testing.T) {
	h := start(t)
	id, secret := h.keys.add()
	for _, address := range []string{h.URL(), "http" + strings.TrimPrefix(h.WSURL(), "ws")} {
		res, b := h.issue(t, address, secret)
		if res.StatusCode != http.StatusCreated || b.ExpiresIn != 30 || !strings.HasPrefix(b.URL, h.WSURL()+"/?ticket="+b.Ticket) || res.Header.Get("Cache-Control") != "private, no-store" {
			t.Errorf("%s: %+v", res.Status, b)
		}
		c, _, err := h.dial(t, b.URL, []string{"mcp"})
		if err != nil {
			t.Fatal(err)
		}
		if got := roundTrip(t, c, callIt); got.text() != id+"/ws:hi" || c.Subprotocol() != "mcp" {
			t.Errorf("%+v", got)
		}
		// It is used up, at every address.
		for _, url := range h.wsURLs() {
			again, _, err := h.dial(t, url+"?ticket="+b.Ticket, []string{"mcp"})
			if err != nil {
				t.Fatal(err)
			}
			if got := roundTrip(t, again, callIt); got.Error == nil || got.Error.Code != 401 {
				t.Errorf("again: %+v", got)
			}
		}
		h.API.guesses.addrs = newGuessLimiter().addrs
	}
	if strings.Contains(h.log.String(), "wst_") {
		t.Error("a ticket is in the log")
	}
}

func TestTicket_NeedsAKey(t *testing.T) {
	h := start(t)
	for _, header := range []string{"X-None: 1", "Authorization: Bearer hk_wrong"} {
		if res, body := h.do(t, "POST", "/v1/ws-ticket", "", header); res.StatusCode != http.StatusUnauthorized || strings.Contains(body, "wst_") {
			t.Errorf("%s: %s", res.Status, body)
		}
	}
	if res, _ := h.do(t, "GET", "/v1/ws-ticket", ""); res.StatusCode != http.StatusNotFound && res.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("GET: %s", res.Status)
	}
}

// A ticket is for MCP over WebSocket only, and valid as long as its key.
func TestTicket_Bounds(t *testing.T) {
	h := startAll(t)
	id, secret := h.keys.add()
	_, b := h.issue(t, h.URL(), secret)
	if res, _ := h.do(t, "POST", "/mcp?ticket="+b.Ticket, callIt, "X-Forwarded-For: 10.0.0.1"); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("over HTTP: %s", res.Status)
	}
	if _, res, err := h.dial(t, "ws"+strings.TrimPrefix(h.URL(), "http")+"/audio/x?ticket="+b.Ticket, nil); err == nil || res == nil || res.StatusCode != http.StatusUnauthorized {
		t.Errorf("for audio: %v, %v", res, err)
	}
	h.API.guesses.addrs = newGuessLimiter().addrs
	live, _, err := h.dial(t, b.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := roundTrip(t, live, callIt); got.Error != nil {
		t.Errorf("%+v", got)
	}
	_, unused := h.issue(t, h.URL(), secret)
	h.keys.revoke(id)
	if _, _, err := live.Read(t.Context()); websocket.CloseStatus(err) != 4401 {
		t.Errorf("what it opened was closed with %v", err)
	}
	late, _, err := h.dial(t, unused.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := roundTrip(t, late, callIt); got.Error == nil || got.Error.Code != 401 {
		t.Errorf("after its key: %+v", got)
	}
}

// later moves the clock of the hub's tickets.
func (h *hub) later(d time.Duration) {
	h.tickets.mu.Lock()
	defer h.tickets.mu.Unlock()
	now := h.tickets.now
	h.tickets.now = func() time.Time { return now().Add(d) }
}

// A ticket that is over opens nothing, although its key is still good.
func TestTicket_Over(t *testing.T) {
	h := start(t)
	id, secret := h.keys.add()
	for _, url := range h.wsURLs() {
		_, late := h.issue(t, h.URL(), secret)
		h.later(ticketLife / 2)
		_, good := h.issue(t, h.URL(), secret)
		h.later(ticketLife / 2) // nothing is issued any more, which would forget those that are over
		for ticket, want := range map[string]string{late.Ticket: "Invalid API key", good.Ticket: id + "/ws:hi"} {
			c, _, err := h.dial(t, url+"?ticket="+ticket, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := roundTrip(t, c, callIt)
			text := got.text()
			if got.Error != nil {
				text = got.Error.Message
			}
			if text != want {
				t.Errorf("%s: %q, want %q", url, text, want)
			}
		}
	}
}

// Of many who show the same ticket at once, one is let in.
func TestTicket_OnlyOne(t *testing.T) {
	h := start(t)
	_, secret := h.keys.add()
	_, b := h.issue(t, h.URL(), secret)
	var clients sync.WaitGroup
	var in atomic.Int64
	for _, url := range slices.Repeat(h.wsURLs(), 2) {
		clients.Go(func() {
			c, _, err := h.dial(t, url+"?ticket="+b.Ticket, nil)
			if err != nil {
				t.Error(err)
				return
			}
			if err := c.Write(t.Context(), websocket.MessageText, []byte(callIt)); err != nil {
				return // refused already
			}
			if _, answer, err := c.Read(t.Context()); err == nil && strings.Contains(string(answer), "/ws:hi") {
				in.Add(1)
			}
		})
	}
	clients.Wait()
	if in.Load() != 1 {
		t.Errorf("%d were let in", in.Load())
	}
}

// The ticket of a session is not one of these: it is good as often and as long as
// its session is active.
func TestTicket_OfASession(t *testing.T) {
	active := true
	h := startAll(t, func(c *Config) {
		c.AuthRequired = true
		c.CheckTicket = func(session, ticket string) (string, bool) { return "local", active && ticket == "t1cket" }
	})
	for range 3 {
		h.later(time.Hour)
		if res, body := h.do(t, "GET", "/audio/s1?ticket=t1cket", ""); res.StatusCode != http.StatusOK {
			t.Errorf("while it is active: %s: %s", res.Status, body)
		}
	}
	active = false
	if res, _ := h.do(t, "GET", "/audio/s1?ticket=t1cket", ""); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("afterwards: %s", res.Status)
	}
}

func TestTickets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newTickets(time.Now)
		var held []string
		for {
			secret, ok := all.issue("a")
			if !ok {
				break
			}
			held = append(held, secret)
		}
		if len(held) != ticketsPerKey {
			t.Errorf("%d tickets at a time", len(held))
		}
		if _, ok := all.issue("b"); !ok {
			t.Error("another key gets none")
		}
		if who, ok := all.redeem(held[0]); !ok || who != "a" {
			t.Errorf("%q, %t", who, ok)
		}
		if _, ok := all.issue("a"); !ok {
			t.Error("one that was used still counts")
		}
		<-time.After(ticketLife)
		if who, ok := all.redeem(held[1]); ok {
			t.Errorf("one that is over is good for %q", who)
		}
		if _, ok := all.issue("a"); !ok || len(all.byHash) != 1 {
			t.Errorf("expired tickets are kept: %d", len(all.byHash))
		}
	})
}
