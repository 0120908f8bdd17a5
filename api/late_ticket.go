package api

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
)

// A lateTicket stands for a sender that can show its ticket only in a message:
// Twilio drops the query of a WebSocket's address and sends no header. The guard
// lets such a WebSocket in without a caller. Its handler must accept nothing
// before [RedeemTicket] has returned one. Until then the sender holds one of a
// few places and has little time.
type lateTicket struct {
	route    *route
	w        *response
	r        *http.Request
	peer     *peer
	cancel   context.CancelCauseFunc // ends the request
	pending  func()                  // ends the time limit and frees the place
	redeemed func()                  // releases what the key holds; nil without a key
}

type lateTicketKey struct{}

// RedeemTicket checks the ticket that came in a message of a request without a
// caller. It must be called by the goroutine that serves the request, and once.
func RedeemTicket(ctx context.Context, ticket string) (*hearken.Caller, error) {
	l, _ := ctx.Value(lateTicketKey{}).(*lateTicket)
	if l == nil {
		return nil, hearken.Errorf(hearken.Unauthorized, "Invalid API key")
	}
	a := l.route.api
	caller, key, no := a.identifyByTicket(l.w, l.r, l.peer, ticket)
	if no != nil {
		l.route.reportRefusal(l.r, l.peer, no)
		return nil, no.err
	}
	l.pending()
	l.w.caller = caller
	if key != nil {
		l.redeemed = a.endWithKey(key, l.w, l.cancel)
	}
	return caller, nil
}

// serveLate serves a WebSocket whose ticket may come later. It reports false,
// and does nothing, if too many wait already.
func (rt *route) serveLate(w *response, r *http.Request, p *peer) bool {
	a := rt.api
	select {
	case a.lateTickets <- struct{}{}:
	default:
		return false
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer context.AfterFunc(a.closing, func() { cancel(errClosing) })()
	timer := time.AfterFunc(a.limits.RejectionRead, func() {
		cancel(errNoTicket)
		w.closeHijackedSoon()
	})
	l := &lateTicket{route: rt, w: w, r: r, peer: p, cancel: cancel, pending: sync.OnceFunc(func() {
		timer.Stop()
		<-a.lateTickets
	})}
	defer l.pending()
	rt.next.ServeHTTP(w, r.WithContext(context.WithValue(ctx, lateTicketKey{}, l)))
	if l.redeemed != nil {
		l.redeemed()
	}
	return true
}

// ticketFromPath is a request whose address ends in a ticket as if the ticket
// were in its query, which no handler sees and no log shows.
func ticketFromPath(r *http.Request) *http.Request {
	moved := *r
	u := *r.URL
	q := u.Query()
	q.Set("ticket", r.PathValue("ticket"))
	u.Path, u.RawPath, u.RawQuery = "/audio/"+r.PathValue("sessionId"), "", q.Encode()
	moved.URL = &u
	moved.RequestURI = (&url.URL{Path: u.Path}).RequestURI()
	moved.SetPathValue("ticket", "")
	return &moved
}
