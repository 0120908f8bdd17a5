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

// tickets are for WebSocket clients that cannot send a header, such as the
// official TypeScript SDK. A caller with a key gets one in exchange. It is valid
// once and for a short time, so it does no harm in a log of URLs.
type tickets struct {
	now func() time.Time // tests change it

	mu     sync.Mutex
	byHash map[[sha256.Size]byte]ticket
}

type ticket struct {
	principal string
	until     time.Time
}

func newTickets(now func() time.Time) *tickets {
	return &tickets{now: now, byHash: map[[sha256.Size]byte]ticket{}}
}

// issue makes a ticket for a key, unless the key has too many already.
func (t *tickets) issue(principal string) (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now, held := t.now(), 0
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

// redeem uses a ticket up. It returns the ticket's principal, and false for a
// ticket that is used, over, or was never issued.
func (t *tickets) redeem(secret string) (principal string, ok bool) {
	hash := sha256.Sum256([]byte(secret))
	t.mu.Lock()
	defer t.mu.Unlock()
	found, ok := t.byHash[hash]
	delete(t.byHash, hash)
	if !ok || !t.now().Before(found.until) {
		return "", false
	}
	return found.principal, true
}

// wsTicket answers POST /v1/ws-ticket.
func (a *API) wsTicket(w http.ResponseWriter, r *http.Request) {
	secret, ok := a.tickets.issue(CallerFrom(r.Context()).Principal)
	if !ok {
		w.Header().Set("Retry-After", "30")
		w.(*response).refuse(http.StatusTooManyRequests, hearken.Errorf(hearken.RateLimited, "This key has %d unused tickets.", ticketsPerKey).WithTry("again in half a minute"))
		return
	}
	address := a.WSURL() + "/"
	if a.ws == nil || a.hosts.public != nil {
		address = "ws" + strings.TrimPrefix(a.URL(), "http") + "/mcp"
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(struct { // the client may have gone
		Ticket    string `json:"ticket"`
		URL       string `json:"url"`
		ExpiresIn int    `json:"expiresIn"` // seconds
	}{secret, address + "?ticket=" + url.QueryEscape(secret), int(ticketLife / time.Second)})
}
