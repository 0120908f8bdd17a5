package injection

import (
	"context"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/stttest"
)

// sides is an engine that hears another script on each channel.
type sides struct {
	name      string
	near, far *stttest.Scripted
}

var _ hearken.Provider = (*sides)(nil)

func newSides(name string, near, far []stttest.Line) *sides {
	return &sides{name, stttest.NewScripted(name, near), stttest.NewScripted(name, far)}
}

// Name is the script's.
func (p *sides) Name() string { return p.name }

// Capabilities are those of the scripts.
func (p *sides) Capabilities() hearken.Capabilities { return p.near.Capabilities() }

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
