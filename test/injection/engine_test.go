package injection

import (
	"context"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/stttest"
)

// A twoSided is an engine with a script for each channel.
type twoSided struct {
	name      string
	near, far *stttest.Scripted
}

var _ hearken.Provider = (*twoSided)(nil)

func newTwoSided(name string, near, far []stttest.Line) *twoSided {
	return &twoSided{name, stttest.NewScripted(name, near), stttest.NewScripted(name, far)}
}

func (p *twoSided) Name() string { return p.name }

func (p *twoSided) Capabilities() hearken.Capabilities { return p.near.Capabilities() }

func (p *twoSided) Check(ctx context.Context, cfg hearken.StreamConfig) error {
	return p.near.Check(ctx, cfg)
}

// Open begins the script of a channel.
func (p *twoSided) Open(ctx context.Context, cfg hearken.StreamConfig) (hearken.Stream, error) {
	if cfg.Origin == hearken.System {
		return p.far.Open(ctx, cfg)
	}
	return p.near.Open(ctx, cfg)
}
