package main

import (
	"context"
	"time"

	"github.com/hearken-dev/hearken/act"
)

// sweepEvery is how often the hub looks for quotes that a deletion left.
const sweepEvery = time.Hour

// forgetQuotes removes what actions quote of deleted words. It needs no queue: a
// single command has none, and neither has a hub that carries out no actions.
func (a *App) forgetQuotes(ctx context.Context, session string, from, to float64) (int, error) {
	if e := a.readyExposure.Load(); e != nil {
		e.CheckAudio() // soon nothing else shows that there was audio
	}
	if q := a.quoting.Load(); q != nil {
		return q.ForgetQuotes(ctx, session, from, to)
	}
	return act.ForgetQuotes(ctx, a.store, session, from, to)
}

// sweepQuotes removes the quotes that deletions left, now and then.
func (a *App) sweepQuotes(ctx context.Context) {
	t := time.NewTicker(sweepEvery)
	defer t.Stop()
	for {
		a.forgetMissingQuotes(ctx)
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
	}
}

// forgetMissingQuotes removes the quotes of words that no longer exist. Only the
// hub to which the actions belong does this: another one may not know sessions
// that are not in the store yet.
func (a *App) forgetMissingQuotes(ctx context.Context) {
	if a.queue == nil {
		return
	}
	switch n, err := a.queue.ForgetMissing(ctx, a.hub.HasLine); {
	case err != nil && ctx.Err() == nil:
		a.log.Warn("quotes of deleted words not removed", "error", err)
	case n > 0:
		a.log.Info("quotes of deleted words removed", "actions", n)
	}
}
