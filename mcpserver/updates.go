package mcpserver

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/live"
)

const (
	// updateEvery is how often a client is told at most that a transcript has
	// grown.
	updateEvery = time.Second
	// updateWait is how long one look for news waits for it.
	updateWait = 10 * time.Second
)

// updates tells clients that subscribed to a transcript when it changes. One
// goroutine looks after each transcript for as long as anybody is subscribed
// to it. The SDK knows who is told how: by resources/subscribe, or since
// 2026-07-28 on the stream of subscriptions/listen.
type updates struct {
	desk   *desk
	server *mcp.Server

	mu sync.Mutex
	by map[string]*watched // by URI
}

// watched is a transcript with its subscribers.
type watched struct {
	holders map[*mcp.ServerSession]bool
	cancel  context.CancelFunc
}

func (u *updates) subscribe(ctx context.Context, req *mcp.SubscribeRequest) error {
	uri := req.Params.URI
	look := u.desk.news(uri)
	if look == nil {
		return nil // nothing there ever changes
	}
	state, next := look(ctx, 0, 0) // what comes from now on is news
	u.mu.Lock()
	defer u.mu.Unlock()
	w := u.by[uri]
	if w == nil {
		ctx, cancel := context.WithCancel(context.Background())
		w = &watched{holders: map[*mcp.ServerSession]bool{}, cancel: cancel}
		if u.by == nil {
			u.by = map[string]*watched{}
		}
		u.by[uri] = w
		go u.watch(ctx, uri, look, state, next)
	}
	if !w.holders[req.Session] {
		w.holders[req.Session] = true
		go func() { // whoever hangs up does not say so first
			_ = req.Session.Wait() // however it ends
			u.release(uri, w, req.Session)
		}()
	}
	return nil
}

func (u *updates) unsubscribe(_ context.Context, req *mcp.UnsubscribeRequest) error {
	u.mu.Lock()
	w := u.by[req.Params.URI]
	u.mu.Unlock()
	if w != nil {
		u.release(req.Params.URI, w, req.Session)
	}
	return nil
}

// release takes a subscriber away, and the last one's transcript with it.
func (u *updates) release(uri string, w *watched, holder *mcp.ServerSession) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(w.holders, holder)
	if len(w.holders) == 0 {
		w.cancel()
		if u.by[uri] == w {
			delete(u.by, uri)
		}
	}
}

// watch tells of every change from a state on until nobody wants to know any more.
func (u *updates) watch(ctx context.Context, uri string, look lookout, state string, next int) {
	for pause(ctx, updateEvery) {
		var now string
		if now, next = look(ctx, next, updateWait); now != state && ctx.Err() == nil {
			state = now
			if err := u.server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: uri}); err != nil {
				u.desk.log.Debug("update not told", "uri", uri, "error", err)
			}
		}
	}
}

// A lookout returns something that differs whenever a transcript does, after
// waiting for that from a line on, and the line to go on from.
type lookout func(ctx context.Context, line int, wait time.Duration) (state string, next int)

// news is how changes of a transcript are noticed; nil if it is none of ours.
func (d *desk) news(uri string) lookout {
	if uri == currentURI && d.offers(Scribe) {
		return func(ctx context.Context, line int, wait time.Duration) (string, int) {
			if line == 0 { // a session that begins is news by itself
				wait = 0
			}
			page, err := d.scribe.Tail(ctx, hearken.TailRequest{N: currentEntries, SinceLine: line, Wait: wait})
			if err != nil {
				return "", 0
			}
			var state strings.Builder
			fmt.Fprintf(&state, "%s %d", page.Session, page.Next)
			for i := range page.Entries {
				if e := &page.Entries[i]; e.Status == hearken.Unconfirmed {
					state.WriteString("\n" + e.Text)
				}
			}
			return state.String(), page.Next
		}
	}
	id, ok := sessionOf(uri)
	if !ok || !d.offers(Transcription) {
		return nil
	}
	return func(ctx context.Context, line int, wait time.Duration) (string, int) {
		page, err := d.hub.Read(ctx, live.ReadRequest{Session: id, From: max(0, line-1), Limit: sessionEntries, Wait: wait})
		if err != nil {
			return "", line
		}
		return fmt.Sprintf("%d %s", page.Total, page.Session.Status), page.Next + 1
	}
}
