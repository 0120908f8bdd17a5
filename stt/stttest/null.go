package stttest

import (
	"context"

	"github.com/hearken-dev/hearken"
)

var _ hearken.Provider = Null{}

// Null is a provider that finds no words: it reports only its progress, once
// for each second of audio.
type Null struct{}

// Name is "null".
func (Null) Name() string { return "null" }

// Capabilities are none.
func (Null) Capabilities() hearken.Capabilities { return hearken.Capabilities{} }

// Check accepts every configuration.
func (Null) Check(context.Context, hearken.StreamConfig) error { return nil }

// Open starts a stream that is done with all audio at once.
func (Null) Open(ctx context.Context, cfg hearken.StreamConfig) (hearken.Stream, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &nullStream{ctx: ctx, out: newOutbox(ctx), reportedAt: cfg.Start, written: cfg.Start}, nil
}

type nullStream struct {
	ctx                 context.Context
	out                 *outbox
	reportedAt, written int64
}

func (s *nullStream) Write(f hearken.Frame) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	s.written = f.Pos + int64(len(f.PCM))
	if s.written-s.reportedAt >= hearken.SampleRate {
		s.reportProgress()
	}
	return nil
}

func (s *nullStream) reportProgress() {
	s.reportedAt = s.written
	s.out.put(hearken.StreamEvent{Kind: hearken.Progress, FinalUntil: s.written})
}

func (s *nullStream) Finalize() error { return nil }

func (s *nullStream) Events() <-chan hearken.StreamEvent { return s.out.ch }

func (s *nullStream) Close() error {
	s.reportProgress()
	s.out.close()
	return nil
}
