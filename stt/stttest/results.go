package stttest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt"
)

// results are all events of one stream.
type results struct {
	done chan struct{}

	events   []hearken.StreamEvent
	finals   []hearken.Segment
	copies   []hearken.Segment // of the finals, as they were when they came
	partials []hearken.Segment
	failed   error
}

// collect reads a stream's events until they end.
func collect(stream hearken.Stream) *results {
	h := &results{done: make(chan struct{})}
	go func() {
		defer close(h.done)
		for e := range stream.Events() {
			h.add(e)
		}
	}()
	return h
}

func (r *results) add(e hearken.StreamEvent) {
	r.events = append(r.events, e)
	switch e.Kind {
	case hearken.Final:
		r.finals = append(r.finals, e.Segment)
		c := e.Segment
		c.Words = append([]hearken.Word(nil), c.Words...)
		r.copies = append(r.copies, c)
	case hearken.Partial:
		r.partials = append(r.partials, e.Segment)
	case hearken.Failed:
		r.failed = e.Err
	}
}

func (r *results) wait(t *testing.T, timeout time.Duration) {
	t.Helper()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-r.done:
	case <-timer.C:
		t.Fatalf("the events did not end within %s", timeout)
	}
}

// writeCut writes audio in frames of the sizes that next returns.
func writeCut(stream hearken.Stream, pos int64, pcm []int16, next func() int) error {
	buf := make([]int16, 0, 32000)
	for len(pcm) > 0 {
		n := min(next(), len(pcm))
		buf = append(buf[:0], pcm[:n]...)
		if err := stream.Write(hearken.Frame{Pos: pos, PCM: buf}); err != nil {
			return err
		}
		clear(buf) // a receiver that keeps it must notice
		pcm, pos = pcm[n:], pos+int64(n)
	}
	return nil
}

func (s *suite) transcribe(t *testing.T, cfg hearken.StreamConfig, pcm []int16, size int) *results {
	t.Helper()
	return s.transcribeCut(t, cfg, pcm, func() int { return size })
}

func (s *suite) transcribeCut(t *testing.T, cfg hearken.StreamConfig, pcm []int16, next func() int) *results {
	t.Helper()
	stream, err := s.provider.Open(t.Context(), cfg)
	if err != nil {
		t.Error(err)
		return &results{}
	}
	h := collect(stream)
	if err := writeCut(stream, cfg.Start, pcm, next); err != nil {
		t.Errorf("Write: %v", err)
	}
	if err := stream.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	h.wait(t, s.Timeout)
	return h
}

// words are the words of all finals, as searches see them.
func (r *results) words() []string {
	var words []string
	for _, f := range r.finals {
		if f.Spoken() {
			words = append(words, hearken.Terms(f.Text)...)
		}
	}
	return words
}

// verify checks the results for the audio from start on against the rules for
// every stream.
func (r *results) verify(t *testing.T, start, samples int64) {
	t.Helper()
	const slack = 0.05 // seconds
	if r.failed != nil {
		t.Errorf("the stream failed: %v", r.failed)
	}
	if diff := cmp.Diff(r.copies, r.finals); diff != "" {
		t.Errorf("a final changed: %s", diff)
	}
	from, to := stt.Seconds(start)-slack, stt.Seconds(start+samples)+slack
	finalUntil, end := start, from
	for _, e := range r.events {
		seg := e.Segment
		switch e.Kind {
		case hearken.Final:
			if !seg.IsFinal || (seg.Status != hearken.Confirmed && seg.Status != hearken.NoSpeech) {
				t.Errorf("a final has status %q, isFinal %v", seg.Status, seg.IsFinal)
			}
			if seg.StartTime < end-slack {
				t.Errorf("a segment starts at %.2f, before the last one ended at %.2f", seg.StartTime, end)
			}
			end = seg.EndTime
			checkTimes(t, seg, from, to)
		case hearken.Partial:
			if seg.IsFinal || seg.Status != hearken.Unconfirmed || seg.Text == "" {
				t.Errorf("a partial has status %q, isFinal %v, text %q", seg.Status, seg.IsFinal, seg.Text)
			}
			if seg.StartTime < end-slack {
				t.Errorf("a partial starts at %.2f, before the last final ended at %.2f", seg.StartTime, end)
			}
			checkTimes(t, seg, from, to)
		case hearken.SpeechStarted:
			if e.Time < from || e.Time > to {
				t.Errorf("speech started at %.2f, outside the audio", e.Time)
			}
		}
		if e.Kind == hearken.Final || e.Kind == hearken.Progress {
			if e.FinalUntil < finalUntil || e.FinalUntil > start+samples {
				t.Errorf("FinalUntil went from %d to %d with audio from %d to %d", finalUntil, e.FinalUntil, start, start+samples)
			}
			finalUntil = e.FinalUntil
			if e.Lag < 0 {
				t.Errorf("lag %f", e.Lag)
			}
		}
	}
}

func checkTimes(t *testing.T, seg hearken.Segment, from, to float64) {
	t.Helper()
	const slack = 0.05
	if seg.StartTime < from || seg.EndTime > to || seg.EndTime < seg.StartTime {
		t.Errorf("a segment from %.2f to %.2f in audio from %.2f to %.2f", seg.StartTime, seg.EndTime, from, to)
	}
	last := seg.StartTime - slack
	for _, w := range seg.Words {
		if w.StartTime < last-1e-6 || w.EndTime < w.StartTime || w.EndTime > seg.EndTime+slack {
			t.Errorf("word from %.3f to %.3f after %.3f in a segment from %.3f to %.3f", w.StartTime, w.EndTime, last, seg.StartTime, seg.EndTime)
		}
		last = w.StartTime
	}
}
