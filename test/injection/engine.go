package injection

import (
	"context"

	"github.com/hearken-dev/hearken"
)

// Name is the script's.
func (p *sides) Name() string { return p.name }

// Check finds everything in order.
func (p *sides) Check(ctx context.Context, cfg hearken.StreamConfig) error {
	return p.near.Check(ctx, cfg)
}

// Open begins the script of a side.
func (p *sides) Open(ctx context.Context, cfg hearken.StreamConfig) (hearken.Stream, error) {
	if cfg.Origin == hearken.System {
		return p.far.Open(ctx, cfg)
	}
	return p.near.Open(ctx, cfg)
}
