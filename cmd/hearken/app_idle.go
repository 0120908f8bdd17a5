package main

import (
	"context"
	"time"

	"github.com/hearken-dev/hearken"
)

// waitUntilIdle returns when nobody has used the hub for limit, or when ctx ends.
func (a *App) waitUntilIdle(ctx context.Context, limit time.Duration) {
	tick := time.NewTicker(max(limit/20, 10*time.Millisecond))
	defer tick.Stop()
	last, requests := time.Now(), int64(-1)
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			connections, total := a.httpTraffic()
			if a.connections.Load() > 0 || a.hub.Active() > 0 || connections > 0 || total != requests || a.hasReminder() || a.actionsOpen(ctx) {
				last, requests = now, total
			}
			if now.Sub(last) >= limit {
				return
			}
		}
	}
}

// httpTraffic counts the open HTTP connections and the requests answered so far.
func (a *App) httpTraffic() (connections, requests int64) {
	if server := a.openedHTTP(); server != nil {
		return server.Traffic()
	}
	return 0, 0
}

// hasReminder reports whether a reminder is set: only a running hub can fire it.
func (a *App) hasReminder() bool {
	if a.clock == nil {
		return false
	}
	_, set := a.clock.Next()
	return set
}

// actionsOpen reports whether an action runs, or waits for the owner, who needs
// the hub to decide.
func (a *App) actionsOpen(ctx context.Context) bool {
	if a.queue == nil {
		return false
	}
	open, err := a.queue.Actions(ctx, hearken.ActionFilter{
		States: []hearken.ActionState{hearken.ActionPending, hearken.ActionApproved, hearken.ActionExecuting}, Limit: 1,
	})
	return err == nil && len(open) > 0
}
