package deepgram

import (
	"bytes"
	"cmp"
	"context"
	"time"

	"github.com/coder/websocket"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt"
)

const (
	noteSilence = 5 * hearken.SampleRate  // shorter stretches get no entry
	longSilence = 60 * hearken.SampleRate // longer ones get one each minute
)

// A hearing is what the reader remembers.
type hearing struct {
	inbox     bytes.Buffer
	said      int64            // up to here the transcript has an entry
	open      *hearken.Segment // the unconfirmed words of now
	openEnd   float64          // when they end, on the connection's clock
	complaint string           // the last error that the server told
}

// read hears the server until it is over, and then says so.
func (s *stream) read() {
	err := s.listen()
	if err == nil {
		s.last()
	}
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.err = cmp.Or(context.Cause(s.ctx), err, errClosed)
	close(s.done)
	if err != nil {
		if s.ctx.Err() == nil {
			s.put(hearken.StreamEvent{Kind: hearken.Failed, Err: err})
		}
		close(s.events)
		s.conn.CloseNow()
		return
	}
	close(s.events)
	s.conn.Close(websocket.StatusNormalClosure, "")
}

// listen takes what the server says until it has said everything (nil), or
// until the connection ends.
func (s *stream) listen() error {
	for {
		_, r, err := s.conn.Reader(context.Background())
		if err != nil {
			return s.lost(err)
		}
		s.inbox.Reset()
		if _, err := s.inbox.ReadFrom(r); err != nil {
			return s.lost(err)
		}
		m, err := parse(s.inbox.Bytes())
		if err != nil {
			return errGarbled()
		}
		s.mu.Lock()
		s.heardAt, s.hungry = time.Now(), time.Time{}
		finishing := !s.closedAt.IsZero()
		s.mu.Unlock()
		switch m.Type {
		case results:
			s.result(&m)
		case "SpeechStarted":
			s.mu.Lock()
			pos := s.clock.position(m.Timestamp)
			s.mu.Unlock()
			s.put(hearken.StreamEvent{Kind: hearken.SpeechStarted, Time: seconds(pos)})
		case "UtteranceEnd":
			s.utteranceEnd(&m)
		case "Metadata": // the last word of a stream that is being closed
			if finishing {
				return nil
			}
		case "Error":
			s.complaint = stt.Redact(cmp.Or(m.Description, m.Message), s.key)
			s.log.Warn("deepgram told an error", "reason", s.complaint)
		default:
			s.log.Debug("deepgram message not known", "type", stt.Redact(m.Type, s.key))
		}
	}
}

// result tells what was heard in a stretch of sound.
func (s *stream) result(m *message) {
	s.mu.Lock()
	end := min(m.end(), seconds(s.clock.sent()))
	s.newest = max(s.newest, end)
	parts := s.parts(m, end)
	floor := s.clock.pieces[s.clock.at((m.Start+end)/2)].pos
	paused := false
	if m.IsFinal {
		end, paused = s.settled(m, end)
		s.newest = max(s.newest, end)
		s.through = max(s.through, s.clock.position(end))
		s.clock.forget(end)
	}
	through := s.through
	s.mu.Unlock()
	switch {
	case !m.IsFinal:
		s.show(parts)
	case len(parts) > 0:
		s.confirm(parts, through, paused)
	default:
		s.nothing(floor, through)
	}
	s.put(s.progress())
}

// show tells what is being said. Of a stretch with a gap in it only what came
// after it is news.
func (s *stream) show(parts []part) {
	if len(parts) == 0 {
		return // what was shown stays until a final says what became of it
	}
	p := parts[len(parts)-1]
	p.segment.Status = hearken.Unconfirmed
	segment := p.segment // and not all that the server said beside it
	s.open, s.openEnd = &segment, p.end
	if s.interim {
		s.offer(hearken.StreamEvent{Kind: hearken.Partial, Segment: p.segment})
	}
}

// confirm tells what was said, and whether a pause came after it.
func (s *stream) confirm(parts []part, through int64, paused bool) {
	s.open = nil
	for i, p := range parts {
		start, end := samples(p.segment.StartTime), samples(p.segment.EndTime)
		if from := max(s.said, p.floor); start-from >= noteSilence {
			s.silence(from, start)
		}
		p.segment.Status, p.segment.IsFinal = hearken.Confirmed, true
		e := hearken.StreamEvent{Kind: hearken.Final, Segment: p.segment, FinalUntil: min(end, through)}
		if i == len(parts)-1 {
			e.FinalUntil, e.Endpoint = through, paused
		}
		s.put(e)
		s.said = max(s.said, end)
	}
}

// nothing is told of a final without words, unless somebody was shown some, or
// nobody has spoken for long.
func (s *stream) nothing(floor, through int64) {
	open := s.open
	s.open = nil
	s.said = max(s.said, min(floor, through))
	if open != nil && s.interim {
		from, to := max(s.said, samples(open.StartTime)), min(through, samples(open.EndTime))
		if to > from {
			s.silence(from, to)
		}
	}
	if through-s.said >= longSilence {
		s.silence(s.said, through)
	}
}

// silence adds an entry for a stretch without speech.
func (s *stream) silence(from, to int64) {
	s.put(hearken.StreamEvent{Kind: hearken.Final, FinalUntil: to, Segment: hearken.Segment{
		Status: hearken.NoSpeech, IsFinal: true, StartTime: seconds(from), EndTime: seconds(to), Language: s.named(),
	}})
	s.said = to
}

// utteranceEnd asks for the words that the server has not settled although
// nobody goes on: noise can keep it from seeing the end by itself.
func (s *stream) utteranceEnd(m *message) {
	const slack = 0.05
	if s.open == nil || !s.pauses || m.LastWordEnd < s.openEnd-slack {
		return
	}
	select {
	case s.finalize <- struct{}{}:
	default:
	}
}

// last tells what is left when the server has said everything. Words that it
// showed and never settled stand as they are: better than losing them.
func (s *stream) last() {
	s.mu.Lock()
	pos := s.clock.pos()
	s.through, s.newest = pos, seconds(s.clock.sent())
	s.mu.Unlock()
	if s.open != nil {
		s.confirm([]part{{segment: *s.open, floor: s.said}}, pos, false)
	}
	if pos-s.said >= noteSilence {
		s.silence(s.said, pos)
	}
	s.put(s.progress())
}

// progress tells how far the server has come.
func (s *stream) progress() hearken.StreamEvent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.progressLocked()
}

func (s *stream) progressLocked() hearken.StreamEvent {
	lag := seconds(s.clock.sent()) - s.newest - holds
	return hearken.StreamEvent{Kind: hearken.Progress, FinalUntil: s.through, Lag: max(0, lag)}
}

// put tells an event to whoever listens.
func (s *stream) put(e hearken.StreamEvent) {
	select {
	case s.events <- e:
	case <-s.ctx.Done():
	}
}

// offer tells an event that a later one makes worthless, if somebody listens.
func (s *stream) offer(e hearken.StreamEvent) {
	select {
	case s.events <- e:
	default:
	}
}

// offerProgress is for those who are not the reader.
func (s *stream) offerProgress() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.offer(s.progressLocked())
	}
}
