package stttest

import (
	"context"

	"github.com/hearken-dev/hearken"
)

var _ hearken.Provider = Null{}

// Null is a provider that takes sound and never hears a word: it tells only
// how far it has come, once for each second of sound.
type Null struct{}

// Name is "null".
func (Null) Name() string { return "null" }

// Capabilities are none.
func (Null) Capabilities() hearken.Capabilities { return hearken.Capabilities{} }

// Check accepts every configuration.
func (Null) Check(context.Context, hearken.StreamConfig) error { return nil }

// Open starts a stream that deals with all sound at once.
func (Null) Open(ctx context.Context, cfg hearken.StreamConfig) (hearken.Stream, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &nullStream{ctx: ctx, out: newOutbox(ctx), told: cfg.Start, heard: cfg.Start}, nil
}

type nullStream struct {
	ctx         context.Context
	out         *outbox
	told, heard int64
}

func (s *nullStream) Write(f hearken.Frame) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	s.heard = f.Pos + int64(len(f.PCM))
	if s.heard-s.told >= hearken.SampleRate {
		s.tell()
	}
	return nil
}

func (s *nullStream) tell() {
	s.told = s.heard
	s.out.put(hearken.StreamEvent{Kind: hearken.Progress, FinalUntil: s.heard})
}

func (s *nullStream) Finalize() error { return nil }

func (s *nullStream) Events() <-chan hearken.StreamEvent { return s.out.ch }

func (s *nullStream) Close() error {
	s.tell()
	s.out.close()
	return nil
}
