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
	// updateEvery bounds how often a client is told that a transcript changed.
	updateEvery = time.Second
	// updateWait is how long one poll waits for a change.
	updateWait = 10 * time.Second
)

// subscriptions tells clients that subscribed to a transcript when it changes.
// One goroutine polls each transcript for as long as it has subscribers. The
// SDK knows how each client is told: by resources/subscribe, or since
// 2026-07-28 on the stream of subscriptions/listen.
type subscriptions struct {
	tools  *toolContext
	server *mcp.Server

	mu    sync.Mutex
	byURI map[string]*subscription
}

// A subscription is a transcript with its subscribers.
type subscription struct {
	subscribers map[*mcp.ServerSession]bool
	cancel      context.CancelFunc
}

func (s *subscriptions) subscribe(ctx context.Context, req *mcp.SubscribeRequest) error {
	uri := req.Params.URI
	poll := s.tools.pollerOf(uri)
	if poll == nil {
		return nil // it never changes
	}
	state, next := poll(ctx, 0, 0) // clients are told of changes from here on
	s.mu.Lock()
	defer s.mu.Unlock()
	sub := s.byURI[uri]
	if sub == nil {
		ctx, cancel := context.WithCancel(context.Background())
		sub = &subscription{subscribers: map[*mcp.ServerSession]bool{}, cancel: cancel}
		s.byURI[uri] = sub
		go s.notifyChanges(ctx, uri, poll, state, next)
	}
	if !sub.subscribers[req.Session] {
		sub.subscribers[req.Session] = true
		go func() { // clients disconnect without unsubscribing
			_ = req.Session.Wait() // however it ends
			s.remove(uri, sub, req.Session)
		}()
	}
	return nil
}

func (s *subscriptions) unsubscribe(_ context.Context, req *mcp.UnsubscribeRequest) error {
	s.mu.Lock()
	sub := s.byURI[req.Params.URI]
	s.mu.Unlock()
	if sub != nil {
		s.remove(req.Params.URI, sub, req.Session)
	}
	return nil
}

// remove removes a subscriber, and with the last one the subscription.
func (s *subscriptions) remove(uri string, sub *subscription, subscriber *mcp.ServerSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(sub.subscribers, subscriber)
	if len(sub.subscribers) == 0 {
		sub.cancel()
		if s.byURI[uri] == sub {
			delete(s.byURI, uri)
		}
	}
}

// notifyChanges tells the subscribers of every change until ctx ends.
func (s *subscriptions) notifyChanges(ctx context.Context, uri string, poll pollFunc, state string, next int) {
	for pause(ctx, updateEvery) {
		var now string
		if now, next = poll(ctx, next, updateWait); now != state && ctx.Err() == nil {
			state = now
			if err := s.server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: uri}); err != nil {
				s.tools.Log.Debug("clients not told of a change", "uri", uri, "error", err)
			}
		}
	}
}

// A pollFunc returns a value that differs whenever a transcript does, and the
// line to poll from next. It may wait for entries from line on.
type pollFunc func(ctx context.Context, line int, wait time.Duration) (state string, next int)

// pollerOf detects changes of a transcript; nil if the resource is none.
func (tc *toolContext) pollerOf(uri string) pollFunc {
	if uri == currentURI && tc.mayRead(Scribe) {
		return tc.pollCurrent
	}
	id, ok := sessionOf(uri)
	if !ok || !tc.mayRead(Transcription) {
		return nil
	}
	return func(ctx context.Context, line int, wait time.Duration) (string, int) {
		page, err := tc.Hub.Read(ctx, live.ReadRequest{Session: id, From: max(0, line-1), Limit: sessionEntries, Wait: wait})
		if err != nil {
			return "", line
		}
		return fmt.Sprintf("%d %s", page.Total, page.Session.Status), page.Next + 1
	}
}

// pollCurrent is a [pollFunc] for this computer's current session.
func (tc *toolContext) pollCurrent(ctx context.Context, line int, wait time.Duration) (string, int) {
	if line == 0 { // that a session starts is a change, too
		wait = 0
	}
	page, err := tc.Scribe.Tail(ctx, hearken.TailRequest{N: currentEntries, SinceLine: line, Wait: wait})
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
