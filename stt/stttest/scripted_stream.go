package stttest

import (
	"context"
	"errors"
	"strings"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt"
)

// confirmAfter is how long after a line's end it is confirmed.
const confirmAfter = 0.2

var errClosed = errors.New("stttest: stream is closed")

type scriptedStream struct {
	p   *Scripted
	ctx context.Context
	cfg hearken.StreamConfig
	out *outbox

	next       int // the line that comes next or is being said
	shown      int // words of it that were shown
	started    bool
	written    int64 // position after the last sample
	finalUntil int64
	reportedAt int64 // position at the last Progress
	err        error // why Write no longer works
}

func (s *scriptedStream) Write(f hearken.Frame) error {
	if s.err != nil {
		return s.err
	}
	if err := s.p.waitWhileStalled(s.ctx); err != nil {
		return err
	}
	if f.Pos > s.written && !s.started {
		s.skipTo(stt.Seconds(f.Pos)) // what was said in the gap is lost
	}
	from := s.written
	s.written = f.Pos + int64(len(f.PCM))
	if at, err := s.p.failure(stt.Seconds(from), stt.Seconds(s.written)); err != nil {
		s.emitUntil(at)
		s.err = err
		s.out.put(hearken.StreamEvent{Kind: hearken.Failed, Err: err})
		s.out.close()
		return err
	}
	s.emitUntil(stt.Seconds(s.written))
	if s.written-s.reportedAt >= hearken.SampleRate {
		s.reportProgress()
	}
	return nil
}

func (s *scriptedStream) Finalize() error { return nil }

func (s *scriptedStream) Events() <-chan hearken.StreamEvent { return s.out.ch }

// Close confirms the current line: all its words, in the time that it had.
func (s *scriptedStream) Close() error {
	if s.err != nil {
		return nil
	}
	s.err = errClosed
	if l, ok := s.p.line(s.next); ok && s.started {
		l.End = min(l.End, stt.Seconds(s.written))
		s.confirm(l)
	}
	s.reportProgress()
	s.out.close()
	return nil
}

// skipTo makes the first line that starts at or after t the next one.
func (s *scriptedStream) skipTo(t float64) {
	const slack = 1.0 / hearken.SampleRate
	for l, ok := s.p.line(s.next); ok && l.Start < t-slack; l, ok = s.p.line(s.next) {
		s.next++
	}
}

// emitUntil emits what the script holds up to now.
func (s *scriptedStream) emitUntil(now float64) {
	for {
		l, ok := s.p.line(s.next)
		if !ok || now <= l.Start {
			return
		}
		if !s.started {
			s.started = true
			s.out.put(hearken.StreamEvent{Kind: hearken.SpeechStarted, Time: l.Start})
		}
		if now >= l.End+confirmAfter {
			s.confirm(l)
			continue
		}
		words := spread(l)
		n := 0
		for n < len(words) && words[n].EndTime <= now {
			n++
		}
		if n > s.shown && s.cfg.Interim {
			seg := s.segment(l, words[:n])
			seg.Status = hearken.Unconfirmed
			s.out.put(hearken.StreamEvent{Kind: hearken.Partial, Segment: seg})
		}
		s.shown = n
		return
	}
}

func (s *scriptedStream) confirm(l Line) {
	seg := s.segment(l, spread(l))
	seg.Status, seg.IsFinal = hearken.Confirmed, true
	s.finalUntil = stt.Position(l.End)
	s.out.put(hearken.StreamEvent{Kind: hearken.Final, Segment: seg, FinalUntil: s.finalUntil})
	s.next++
	s.shown, s.started = 0, false
}

func (s *scriptedStream) reportProgress() {
	s.reportedAt = s.written
	s.out.put(hearken.StreamEvent{Kind: hearken.Progress, FinalUntil: s.finalUntil})
}

func (s *scriptedStream) segment(l Line, words []hearken.Word) hearken.Segment {
	text := make([]string, len(words))
	for i, w := range words {
		text[i] = w.Word
	}
	confidence := 0.9
	end := l.End
	if n := len(words); n > 0 {
		end = words[n-1].EndTime
	}
	return hearken.Segment{
		Text: strings.Join(text, " "), Words: words, StartTime: l.Start, EndTime: end,
		Confidence: &confidence, Language: s.cfg.Language,
	}
}

// spread gives each word of a line an equal share of its time.
func spread(l Line) []hearken.Word {
	fields := strings.Fields(l.Text)
	words := make([]hearken.Word, len(fields))
	share := (l.End - l.Start) / float64(max(len(fields), 1))
	for i, w := range fields {
		words[i] = hearken.Word{Word: w, StartTime: l.Start + float64(i)*share, EndTime: l.Start + float64(i+1)*share}
	}
	return words
}
