package stttest

import (
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/editdistance"
	"github.com/hearken-dev/hearken/stt"
)

// finalize asks for the words right after the first utterance, when the provider
// would still wait for more.
func (s *suite) finalize(t *testing.T) {
	whole := s.transcribe(t, s.config(), s.Audio, 1600)
	if len(whole.finals) == 0 {
		t.Fatal("no final came")
	}
	if !s.provider.Capabilities().Finalize {
		t.Fatal("it does not declare that its streams finalize; see Options.Without")
	}
	stream, err := s.provider.Open(t.Context(), s.config())
	if err != nil {
		t.Fatal(err)
	}
	l := newReader(stream)
	size := func() int { return 1600 }
	part := min(stt.Position(whole.finals[0].EndTime+0.05), int64(len(s.Audio)))
	if err := writeCut(stream, 0, s.Audio[:part], size); err != nil {
		t.Fatal(err)
	}
	if err := stream.Finalize(); err != nil {
		t.Fatal(err)
	}
	l.readUntil(t, part, s.Timeout)
	if err := stream.Finalize(); err != nil { // nothing new
		t.Fatal(err)
	}
	if len(l.words()) == 0 {
		t.Error("no word came")
	}
	for _, e := range l.events {
		if e.Endpoint {
			t.Errorf("an event of kind %d says that the speaker paused", e.Kind)
		}
	}
	if err := writeCut(stream, part, s.Audio[part:], size); err != nil {
		t.Fatal(err)
	}
	if err := stream.Close(); err != nil {
		t.Fatal(err)
	}
	l.readUntil(t, int64(len(s.Audio)), s.Timeout)
	l.read(t, s.Timeout, func(hearken.StreamEvent) bool { return false })
	l.verify(t, 0, int64(len(s.Audio)))
	// The rest is transcribed from another position, so a word or two may differ.
	if d, n := editdistance.Levenshtein(whole.words(), l.words()), len(whole.words()); float64(d) > (s.Tolerance+0.1)*float64(n) {
		t.Errorf("%d of %d words differ:\nwhole %q\nasked %q", d, n, whole.words(), l.words())
	}
	if err := stream.Finalize(); err == nil {
		t.Error("Finalize after Close succeeded")
	}
}

// A reader reads a stream on request.
type reader struct {
	results
	in <-chan hearken.StreamEvent
}

// newReader reads events from the stream at once, as its callers do, and keeps
// them until they are asked for.
func newReader(stream hearken.Stream) *reader {
	in := make(chan hearken.StreamEvent, 1<<16)
	go func() {
		defer close(in)
		for e := range stream.Events() {
			in <- e
		}
	}()
	return &reader{in: in}
}

// readUntil reads until all audio before a position is done.
func (l *reader) readUntil(t *testing.T, pos int64, timeout time.Duration) {
	t.Helper()
	ended := l.read(t, timeout, func(e hearken.StreamEvent) bool {
		return (e.Kind == hearken.Final || e.Kind == hearken.Progress) && e.FinalUntil >= pos
	})
	if ended {
		t.Fatalf("the events ended before position %d", pos)
	}
}

// read reads until an event is the last that is wanted, or until the events
// end, and reports whether they did.
func (l *reader) read(t *testing.T, timeout time.Duration, last func(hearken.StreamEvent) bool) (ended bool) {
	t.Helper()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for {
		select {
		case e, ok := <-l.in:
			if !ok {
				return true
			}
			l.add(e)
			if last(e) {
				return false
			}
		case <-timer.C:
			t.Fatalf("the stream was not done within %s", timeout)
		}
	}
}

// endpoints checks which finals are reported as pauses.
func (s *suite) endpoints(t *testing.T) {
	h := s.transcribe(t, s.config(), s.Audio, 1600)
	paused := 0
	for _, e := range h.events {
		if e.Endpoint && e.Kind != hearken.Final {
			t.Errorf("an event of kind %d says that the speaker paused", e.Kind)
		}
		if e.Endpoint {
			paused++
		}
	}
	if paused == 0 {
		t.Fatal("it reports no pause; see Options.Without")
	}
	last := h.finals[len(h.finals)-1]
	h = s.transcribe(t, s.config(), s.Audio[:stt.Position((last.StartTime+last.EndTime)/2)], 1600)
	var final hearken.StreamEvent
	for _, e := range h.events {
		if e.Kind == hearken.Final {
			final = e
		}
	}
	if final.Endpoint {
		t.Error("what Close ended in the middle is reported as a pause")
	}
}
