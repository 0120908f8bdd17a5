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

// readerState is what only the reader uses.
type readerState struct {
	inbox        bytes.Buffer
	entriesUntil int64            // the transcript has entries up to here
	partial      *hearken.Segment // the current unconfirmed words
	partialEnd   float64          // when they end, on the connection's clock
	serverError  string           // the last error that the server sent
}

// read reads from the server until the stream ends, and emits how it ended.
func (s *stream) read() {
	err := s.readMessages()
	if err == nil {
		s.emitRemaining()
	}
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.err = cmp.Or(context.Cause(s.ctx), err, errClosed)
	close(s.done)
	if err != nil && s.ctx.Err() == nil {
		s.emit(hearken.StreamEvent{Kind: hearken.Failed, Err: err})
	}
	close(s.events)
	if err != nil {
		s.conn.CloseNow()
	} else {
		s.conn.Close(websocket.StatusNormalClosure, "")
	}
}

// readMessages handles the server's messages until it has sent everything
// (nil), or until the connection ends.
func (s *stream) readMessages() error {
	for {
		_, r, err := s.conn.Reader(context.Background())
		if err != nil {
			return s.connectionError(err)
		}
		s.inbox.Reset()
		if _, err := s.inbox.ReadFrom(r); err != nil {
			return s.connectionError(err)
		}
		m, err := parseMessage(s.inbox.Bytes())
		if err != nil {
			return hearken.Errorf(hearken.ProviderConnectionFailed, "Deepgram sent something that is not part of its protocol.")
		}
		s.mu.Lock()
		s.receivedAt, s.unansweredSince = time.Now(), time.Time{}
		finishing := !s.closedAt.IsZero()
		s.mu.Unlock()
		switch m.Type {
		case results:
			s.handleResult(&m)
		case "SpeechStarted":
			s.mu.Lock()
			pos := s.clock.position(m.Timestamp)
			s.mu.Unlock()
			s.emit(hearken.StreamEvent{Kind: hearken.SpeechStarted, Time: stt.Seconds(pos)})
		case "UtteranceEnd":
			s.handleUtteranceEnd(&m)
		case "Metadata": // the last message of a stream that is being closed
			if finishing {
				return nil
			}
		case "Error":
			s.serverError = stt.Redact(cmp.Or(m.Description, m.Message), s.key)
			s.log.Warn("deepgram reported an error", "reason", s.serverError)
		default:
			s.log.Debug("deepgram sent an unknown message", "type", stt.Redact(m.Type, s.key))
		}
	}
}

// handleResult emits the words of a stretch of audio.
func (s *stream) handleResult(m *message) {
	s.mu.Lock()
	end := min(m.end(), stt.Seconds(s.clock.sent()))
	s.answeredUntil = max(s.answeredUntil, end)
	parts := s.parts(m, end)
	floor := s.clock.pieces[s.clock.pieceAt((m.Start+end)/2)].pos
	paused := false
	if m.IsFinal {
		end, paused = s.settleFinal(m, end)
		s.answeredUntil = max(s.answeredUntil, end)
		s.finalUntil = max(s.finalUntil, s.clock.position(end))
		s.clock.forget(end)
	}
	finalUntil := s.finalUntil
	s.mu.Unlock()
	switch {
	case !m.IsFinal:
		s.emitPartial(parts)
	case len(parts) > 0:
		s.emitFinals(parts, finalUntil, paused)
	default:
		s.emitNoWords(floor, finalUntil)
	}
	s.emit(s.progress())
}

// emitPartial emits unconfirmed words. Of a stretch with a gap in it only what
// came after the gap is news.
func (s *stream) emitPartial(parts []part) {
	if len(parts) == 0 {
		return // what was shown stays until a final replaces it
	}
	p := parts[len(parts)-1]
	p.segment.Status = hearken.Unconfirmed
	segment := p.segment // without the rest of the server's message
	s.partial, s.partialEnd = &segment, p.end
	if s.interim {
		s.tryEmit(hearken.StreamEvent{Kind: hearken.Partial, Segment: p.segment})
	}
}

// emitFinals emits confirmed words. Paused says whether a pause followed.
func (s *stream) emitFinals(parts []part, finalUntil int64, paused bool) {
	s.partial = nil
	for i, p := range parts {
		start, end := toSamples(p.segment.StartTime), toSamples(p.segment.EndTime)
		if from := max(s.entriesUntil, p.floor); start-from >= stt.MinSilence {
			s.emitSilence(from, start)
		}
		p.segment.Status, p.segment.IsFinal = hearken.Confirmed, true
		e := hearken.StreamEvent{Kind: hearken.Final, Segment: p.segment, FinalUntil: min(end, finalUntil)}
		if i == len(parts)-1 {
			e.FinalUntil, e.Endpoint = finalUntil, paused
		}
		s.emit(e)
		s.entriesUntil = max(s.entriesUntil, end)
	}
}

// emitNoWords handles a final without words. It emits an entry only if words
// were shown, or if nobody has spoken for long.
func (s *stream) emitNoWords(floor, finalUntil int64) {
	shown := s.partial
	s.partial = nil
	s.entriesUntil = max(s.entriesUntil, min(floor, finalUntil))
	if shown != nil && s.interim {
		from, to := max(s.entriesUntil, toSamples(shown.StartTime)), min(finalUntil, toSamples(shown.EndTime))
		if to > from {
			s.emitSilence(from, to)
		}
	}
	if finalUntil-s.entriesUntil >= stt.MaxSilence {
		s.emitSilence(s.entriesUntil, finalUntil)
	}
}

func (s *stream) emitSilence(from, to int64) {
	s.emit(stt.SilenceEvent(from, to, to, s.configuredLanguage()))
	s.entriesUntil = to
}

// handleUtteranceEnd asks for words that the server has not confirmed although the
// speaker paused: noise can hide the pause from it.
func (s *stream) handleUtteranceEnd(m *message) {
	const slack = 0.05
	if s.partial == nil || !s.pauses || m.LastWordEnd < s.partialEnd-slack {
		return
	}
	select {
	case s.finalize <- struct{}{}:
	default:
	}
}

// emitRemaining emits what is left when the server has sent everything. Words that
// it showed and never confirmed count as confirmed: better than losing them.
func (s *stream) emitRemaining() {
	s.mu.Lock()
	pos := s.clock.endPosition()
	s.finalUntil, s.answeredUntil = pos, stt.Seconds(s.clock.sent())
	s.mu.Unlock()
	if s.partial != nil {
		s.emitFinals([]part{{segment: *s.partial, floor: s.entriesUntil}}, pos, false)
	}
	if pos-s.entriesUntil >= stt.MinSilence {
		s.emitSilence(s.entriesUntil, pos)
	}
	s.emit(s.progress())
}

// progress is the event that says how far the server has come.
func (s *stream) progress() hearken.StreamEvent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.progressLocked()
}

func (s *stream) progressLocked() hearken.StreamEvent {
	lag := stt.Seconds(s.clock.sent()) - s.answeredUntil - usualLag
	return hearken.StreamEvent{Kind: hearken.Progress, FinalUntil: s.finalUntil, Lag: max(0, lag)}
}

func (s *stream) emit(e hearken.StreamEvent) {
	select {
	case s.events <- e:
	case <-s.ctx.Done():
	}
}

// tryEmit sends an event that a later one replaces, if the caller is ready.
func (s *stream) tryEmit(e hearken.StreamEvent) {
	select {
	case s.events <- e:
	default:
	}
}

// tryEmitProgress is for goroutines other than the reader.
func (s *stream) tryEmitProgress() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.tryEmit(s.progressLocked())
	}
}
