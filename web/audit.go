package web

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
)

// fromPage is where a decision on this page comes from.
const fromPage = "page"

// limitedEvery is how often the audit records that guesses come too fast, so
// that an attacker cannot fill it.
const limitedEvery = time.Minute

// A pageAudit records sign-in attempts in the audit.
type pageAudit struct {
	audit hearken.Audit // may be nil
	log   *slog.Logger
	now   func() time.Time

	mu      sync.Mutex
	limited time.Time // when a rate limit was last recorded
}

// recordRefused records a wrong PIN or setup code.
func (p *pageAudit) recordRefused(ctx context.Context, err error) {
	kind := hearken.AuditRefused
	if hearken.CodeOf(err) == hearken.RateLimited {
		kind = hearken.AuditLimited
		p.mu.Lock()
		soon := p.now().Sub(p.limited) < limitedEvery
		if !soon {
			p.limited = p.now()
		}
		p.mu.Unlock()
		if soon {
			return
		}
	}
	p.append(ctx, hearken.AuditRecord{Type: kind, By: "owner", From: fromPage, Error: string(hearken.CodeOf(err))})
}

// append writes a record. A failing audit does not fail the request: the queue
// carries out nothing until the audit works again.
func (p *pageAudit) append(ctx context.Context, r hearken.AuditRecord) {
	if p.audit == nil {
		return
	}
	if err := p.audit.Append(context.WithoutCancel(ctx), r); err != nil {
		p.log.Error("cannot write to the audit", "type", r.Type, "error", err)
	}
}
