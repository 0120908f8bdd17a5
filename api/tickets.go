package api

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
)

const (
	ticketLife    = 30 * time.Second
	ticketsPerKey = 32 // at a time
)

// tickets let those in by WebSocket whose client cannot send a header, such as
// the official SDK for TypeScript: a key buys one, and it is good once and not
// for long, so that it does no harm in a log of addresses.
type tickets struct {
	mu     sync.Mutex
	byHash map[[sha256.Size]byte]ticket
}

type ticket struct {
	principal string
	until     time.Time
}

func newTickets() *tickets { return &tickets{byHash: map[[sha256.Size]byte]ticket{}} }

// issue makes a ticket for a key, unless it has too many already.
func (t *tickets) issue(principal string) (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now, held := time.Now(), 0
	for hash, other := range t.byHash {
		switch {
		case !now.Before(other.until):
			delete(t.byHash, hash)
		case other.principal == principal:
			held++
		}
	}
	if held >= ticketsPerKey {
		return "", false
	}
	secret := "wst_" + rand.Text()
	t.byHash[sha256.Sum256([]byte(secret))] = ticket{principal, now.Add(ticketLife)}
	return secret, true
}

// take uses a ticket up, and says whose it was.
func (t *tickets) take(secret string) (principal string, ok bool) {
	hash := sha256.Sum256([]byte(secret))
	t.mu.Lock()
	defer t.mu.Unlock()
	found, ok := t.byHash[hash]
	delete(t.byHash, hash)
	return found.principal, ok && time.Now().Before(found.until)
}

// wsTicket answers POST /v1/ws-ticket.
func (a *API) wsTicket(w http.ResponseWriter, r *http.Request) {
	secret, ok := a.tickets.issue(CallerFrom(r.Context()).Principal)
	if !ok {
		w.Header().Set("Retry-After", "30")
		w.(*response).refuse(http.StatusTooManyRequests, hearken.Errorf(hearken.RateLimited, "This key has %d tickets that nobody used.", ticketsPerKey).WithTry("again in half a minute"))
		return
	}
	door := a.WSURL() + "/"
	if a.ws == nil || a.names.public != nil {
		door = "ws" + strings.TrimPrefix(a.URL(), "http") + "/mcp"
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(struct { // a client that has gone does not miss it
		Ticket    string `json:"ticket"`
		URL       string `json:"url"`
		ExpiresIn int    `json:"expiresIn"` // seconds
	}{secret, door + "?ticket=" + url.QueryEscape(secret), int(ticketLife / time.Second)})
}
