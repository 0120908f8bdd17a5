package web

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
)

// fromPage is where a decision was made that was made here.
const fromPage = "page"

// limitedEvery is how often the audit hears that guesses come too fast, so
// that whoever guesses cannot fill it.
const limitedEvery = time.Minute

// wrong writes down who tried to get in.
type wrong struct {
	audit hearken.Audit // may be nil
	log   *slog.Logger
	now   func() time.Time

	mu      sync.Mutex
	limited time.Time // when it was last said
}

// tell writes down a PIN or a code that was refused.
func (g *wrong) tell(ctx context.Context, err error) {
	kind := hearken.AuditRefused
	if hearken.CodeOf(err) == hearken.RateLimited {
		kind = hearken.AuditLimited
		g.mu.Lock()
		soon := g.now().Sub(g.limited) < limitedEvery
		if !soon {
			g.limited = g.now()
		}
		g.mu.Unlock()
		if soon {
			return
		}
	}
	g.append(ctx, hearken.AuditRecord{Type: kind, By: "owner", From: fromPage, Error: string(hearken.CodeOf(err))})
}

// append writes a record. Nothing here waits for an audit that fails: the desk
// carries out nothing until it works again.
func (g *wrong) append(ctx context.Context, r hearken.AuditRecord) {
	if g.audit == nil {
		return
	}
	if err := g.audit.Append(context.WithoutCancel(ctx), r); err != nil {
		g.log.Error("audit of the page failed", "type", r.Type, "error", err)
	}
}
