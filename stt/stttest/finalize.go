package stttest

import (
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/editdistance"
)

// finalize asks for the words right after the first thing that is said, where
// the provider would still wait whether more comes. It is for streams that can
// be asked.
func (s *suite) finalize(t *testing.T) {
	whole := s.hear(t, s.config(), s.Sound, 1600)
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
	l := listen(stream)
	size := func() int { return 1600 }
	part := min(position(whole.finals[0].EndTime+0.05), int64(len(s.Sound)))
	if err := writeCut(stream, 0, s.Sound[:part], size); err != nil {
		t.Fatal(err)
	}
	if err := stream.Finalize(); err != nil {
		t.Fatal(err)
	}
	l.reach(t, part, s.Patience)
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
	if err := writeCut(stream, part, s.Sound[part:], size); err != nil {
		t.Fatal(err)
	}
	if err := stream.Close(); err != nil {
		t.Fatal(err)
	}
	l.reach(t, int64(len(s.Sound)), s.Patience)
	l.rest(t, s.Patience)
	l.verify(t, 0, int64(len(s.Sound)))
	// What follows is heard from another place on, so a word or two may differ.
	if d, n := editdistance.Levenshtein(whole.words(), l.words()), len(whole.words()); float64(d) > (s.Tolerance+0.1)*float64(n) {
		t.Errorf("%d of %d words differ:\nwhole %q\nasked %q", d, n, whole.words(), l.words())
	}
	if err := stream.Finalize(); err == nil {
		t.Error("Finalize after Close succeeded")
	}
}

// A listener reads a stream as far as it is asked to.
type listener struct {
	hearing
	in <-chan hearken.StreamEvent
}

// listen takes events off the stream at once, as its callers do, and keeps them
// until somebody asks.
func listen(stream hearken.Stream) *listener {
	in := make(chan hearken.StreamEvent, 1<<16)
	go func() {
		defer close(in)
		for e := range stream.Events() {
			in <- e
		}
	}()
	return &listener{in: in}
}

// reach reads until all sound before a position is dealt with.
func (l *listener) reach(t *testing.T, pos int64, patience time.Duration) {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		select {
		case e, ok := <-l.in:
			if !ok {
				t.Fatalf("the events ended before position %d", pos)
			}
			l.add(e)
			if (e.Kind == hearken.Final || e.Kind == hearken.Progress) && e.FinalUntil >= pos {
				return
			}
		case <-timer.C:
			t.Fatalf("position %d was not reached within %s", pos, patience)
		}
	}
}

// rest reads until the events end.
func (l *listener) rest(t *testing.T, patience time.Duration) {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		select {
		case e, ok := <-l.in:
			if !ok {
				return
			}
			l.add(e)
		case <-timer.C:
			t.Fatalf("the events did not end within %s", patience)
		}
	}
}

// endpoints looks at which finals are told as pauses.
func (s *suite) endpoints(t *testing.T) {
	h := s.hear(t, s.config(), s.Sound, 1600)
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
	h = s.hear(t, s.config(), s.Sound[:position((last.StartTime+last.EndTime)/2)], 1600)
	var final hearken.StreamEvent
	for _, e := range h.events {
		if e.Kind == hearken.Final {
			final = e
		}
	}
	if final.Endpoint {
		t.Error("what Close ended in the middle is told as a pause")
	}
}
