package main

import (
	"context"
	"time"

	"github.com/hearken-dev/hearken"
)

// idle returns when nobody has needed the hub for the given time, or ctx ends.
func (a *App) idle(ctx context.Context, limit time.Duration) {
	tick := time.NewTicker(max(limit/20, 10*time.Millisecond))
	defer tick.Stop()
	last, requests := time.Now(), -1.0
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

// traffic is how many connections the doors have open, and how many requests
// they have answered so far.
func (a *App) traffic() (connections, requests float64) {
	families, err := a.registry.Gather()
	if err != nil {
		a.log.Warn("metrics not read", "error", err)
		return 1, 0 // stay
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			switch f.GetName() {
			case "hearken_http_connections":
				connections += m.GetGauge().GetValue()
			case "hearken_http_requests_total":
				requests += m.GetCounter().GetValue()
			}
		}
	}
	return connections, requests
}

// reminds reports whether a reminder is set: nobody else would tell the owner.
func (a *App) reminds() bool {
	if a.clock == nil {
		return false
	}
	_, set := a.clock.Next()
	return set
}

// waits reports whether an action is under way, or waits for its owner, who
// needs the page for it.
func (a *acting) waits(ctx context.Context) bool {
	if a.desk == nil {
		return false
	}
	open, err := a.desk.Actions(ctx, hearken.ActionFilter{
		States: []hearken.ActionState{hearken.ActionPending, hearken.ActionApproved, hearken.ActionExecuting}, Limit: 1,
	})
	return err == nil && len(open) > 0
}
