package main

import (
	"context"

	"github.com/hearken-dev/hearken"
)

// nullEngine takes sound and hears nothing in it. It is there to measure all
// the rest, and only by name: TRANSCRIPTION_PROVIDER=null.
type nullEngine struct{}

var _ hearken.Provider = nullEngine{}

func (nullEngine) Name() string                                      { return "null" }
func (nullEngine) Capabilities() hearken.Capabilities                { return hearken.Capabilities{} }
func (nullEngine) Check(context.Context, hearken.StreamConfig) error { return nil }

func (nullEngine) Open(ctx context.Context, cfg hearken.StreamConfig) (hearken.Stream, error) {
	// Room for one: how far it has come is only worth knowing once.
	return &nullStream{events: make(chan hearken.StreamEvent, 1), told: cfg.Start, ctx: ctx}, nil
}

type nullStream struct {
	ctx         context.Context
	events      chan hearken.StreamEvent
	told, heard int64
}

func (s *nullStream) Write(f hearken.Frame) error {
	if s.heard = f.Pos + int64(len(f.PCM)); s.heard-s.told < hearken.SampleRate {
		return s.ctx.Err()
	}
	select {
	case s.events <- hearken.StreamEvent{Kind: hearken.Progress, FinalUntil: s.heard}:
		s.told = s.heard
	default: // the last word on it has not been taken yet
	}
	return s.ctx.Err()
}

func (s *nullStream) Finalize() error { return nil }

func (s *nullStream) Events() <-chan hearken.StreamEvent { return s.events }

func (s *nullStream) Close() error {
	go func() {
		defer close(s.events)
		select {
		case s.events <- hearken.StreamEvent{Kind: hearken.Progress, FinalUntil: s.heard}:
		case <-s.ctx.Done():
		}
	}()
	return nil
}
