package main

import (
	"context"

	"github.com/hearken-dev/hearken"
)

// nullEngine accepts audio and finds no words in it. It serves to measure the
// rest of the hub and runs only by name: TRANSCRIPTION_PROVIDER=null.
type nullEngine struct{}

var _ hearken.Provider = nullEngine{}

func (nullEngine) Name() string                                      { return "null" }
func (nullEngine) Capabilities() hearken.Capabilities                { return hearken.Capabilities{Offline: true} }
func (nullEngine) Check(context.Context, hearken.StreamConfig) error { return nil }

func (nullEngine) Open(ctx context.Context, cfg hearken.StreamConfig) (hearken.Stream, error) {
	// One event is enough: only the newest position matters.
	return &nullStream{events: make(chan hearken.StreamEvent, 1), reported: cfg.Start, ctx: ctx}, nil
}

type nullStream struct {
	ctx                context.Context
	events             chan hearken.StreamEvent
	reported, received int64 // positions
}

func (s *nullStream) Write(f hearken.Frame) error {
	if s.received = f.Pos + int64(len(f.PCM)); s.received-s.reported < hearken.SampleRate {
		return s.ctx.Err()
	}
	select {
	case s.events <- hearken.StreamEvent{Kind: hearken.Progress, FinalUntil: s.received}:
		s.reported = s.received
	default: // nobody has read the last event yet
	}
	return s.ctx.Err()
}

func (s *nullStream) Finalize() error { return nil }

func (s *nullStream) Events() <-chan hearken.StreamEvent { return s.events }

func (s *nullStream) Close() error {
	go func() {
		defer close(s.events)
		select {
		case s.events <- hearken.StreamEvent{Kind: hearken.Progress, FinalUntil: s.received}:
		case <-s.ctx.Done():
		}
	}()
	return nil
}
