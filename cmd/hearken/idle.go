package main

import (
	"context"
	"time"

	"github.com/hearken-dev/hearken"
)

// idle returns when nobody has used the hub for limit, or when ctx ends.
func (a *App) idle(ctx context.Context, limit time.Duration) {
	tick := time.NewTicker(max(limit/20, 10*time.Millisecond))
	defer tick.Stop()
	last, requests := time.Now(), int64(-1)
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			connections, total := a.traffic()
			if a.pipes.Load() > 0 || a.hub.Active() > 0 || connections > 0 || total != requests || a.reminds() || a.acting.waits(ctx) {
				last, requests = now, total
			}
			if now.Sub(last) >= limit {
				return
			}
		}
	}
}

// traffic counts the open HTTP connections and the requests answered so far.
func (a *App) traffic() (connections, requests int64) {
	select {
	case <-a.opened:
		if a.api != nil {
			return a.api.Traffic()
		}
	default:
	}
	return 0, 0
}

// reminds reports whether a reminder is set: only a running hub can fire it.
func (a *App) reminds() bool {
	if a.clock == nil {
		return false
	}
	_, set := a.clock.Next()
	return set
}

// waits reports whether an action runs, or waits for the owner, who needs the
// page to decide.
func (a *acting) waits(ctx context.Context) bool {
	if a.desk == nil {
		return false
	}
	open, err := a.desk.Actions(ctx, hearken.ActionFilter{
		States: []hearken.ActionState{hearken.ActionPending, hearken.ActionApproved, hearken.ActionExecuting}, Limit: 1,
	})
	return err == nil && len(open) > 0
}
