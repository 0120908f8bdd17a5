package openai

import (
	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt"
)

// emitFinals emits the finals that are next in order.
func (s *stream) emitFinals() {
	out := false
	for len(s.pending) > 0 {
		u := s.pending[0]
		if u.err != nil {
			s.fail(u.err)
			return
		}
		if !u.gap && !u.done {
			break
		}
		if !u.shown {
			u.shown, out = true, true
			s.emitFinal(u)
		}
		if u.translating {
			break
		}
		if u.english != "" {
			s.emitTranslation(u)
		}
		s.pending = s.pending[1:]
	}
	s.changed.Broadcast()
	switch {
	case len(s.pending) == 0 && s.closing && !s.over:
		if s.written-s.entriesUntil >= stt.MinSilence {
			s.emitSilence(s.written, s.written)
		}
		s.out.Put(hearken.StreamEvent{Kind: hearken.Progress, FinalUntil: s.written})
		s.finish()
	case out:
		s.reportProgress()
	}
}

func (s *stream) emitFinal(u *transcription) {
	before := max(s.finalUntil, u.pos)
	s.finalUntil = max(s.finalUntil, u.finalUntil)
	if u.gap {
		s.entriesUntil = u.pos
		return
	}
	if u.result.text == "" { // no speech, or it was not understood
		s.emitSilence(u.last, s.finalUntil)
		return
	}
	seg := u.segment()
	if start := stt.Position(seg.StartTime); start-s.entriesUntil >= stt.MinSilence {
		s.emitSilence(start, min(before, s.finalUntil))
	}
	s.entriesUntil = stt.Position(seg.EndTime)
	s.out.Put(hearken.StreamEvent{Kind: hearken.Final, Segment: seg, FinalUntil: s.finalUntil, Endpoint: u.paused})
}

func (u *transcription) segment() hearken.Segment {
	h := &u.result
	seg := hearken.Segment{
		Status: hearken.Confirmed, IsFinal: true, Text: h.text, Words: h.words, Estimated: h.estimated,
		Confidence: h.confidence, Language: h.language,
		StartTime: stt.Seconds(u.first), EndTime: stt.Seconds(u.last),
	}
	if !h.estimated {
		seg.StartTime = h.words[0].StartTime
		seg.EndTime = seg.StartTime
		for _, w := range h.words {
			seg.EndTime = max(seg.EndTime, w.EndTime)
		}
	}
	return seg
}

func (s *stream) emitTranslation(u *transcription) {
	seg := u.segment()
	seg.Status, seg.Text, seg.Language, seg.Confidence = hearken.Translated, u.english, "en", nil
	seg.Words, seg.Estimated = nil, false
	s.out.Put(hearken.StreamEvent{Kind: hearken.Final, Segment: seg, FinalUntil: s.finalUntil})
}

// emitSilence emits an entry for a stretch without speech that ends at end.
func (s *stream) emitSilence(end, finalUntil int64) {
	s.out.Put(stt.SilenceEvent(min(s.entriesUntil, end), end, finalUntil, s.options.sessionLanguage))
	s.entriesUntil = end
}

// finalPosition is the position before which all audio is done.
func (s *stream) finalPosition() int64 {
	if len(s.pending) == 0 {
		s.finalUntil = max(s.finalUntil, min(s.position(s.cutter.Needed()), s.written))
	} else if u := s.pending[0]; !u.gap {
		s.finalUntil = max(s.finalUntil, u.pos)
	}
	return s.finalUntil
}

// reportProgress reports how far the stream has come and its lag: how much
// audio was written since the oldest pending utterance ended.
func (s *stream) reportProgress() {
	s.reportedAt = s.processedUntil()
	e := hearken.StreamEvent{Kind: hearken.Progress, FinalUntil: s.finalPosition()}
	if len(s.pending) > 0 {
		e.Lag = max(0, stt.Seconds(s.reportedAt-s.pending[0].due-usualLag))
	}
	s.out.Put(e)
}
