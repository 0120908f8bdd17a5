package openai

import (
	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt"
)

// settle brings out the finals that are next in order.
func (s *stream) settle() {
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
			s.final(u)
		}
		if u.translating {
			break
		}
		if u.english != "" {
			s.translation(u)
		}
		s.pending = s.pending[1:]
	}
	s.room.Broadcast()
	switch {
	case len(s.pending) == 0 && s.closing && !s.over:
		if s.written-s.said >= stt.MinSilence {
			s.silence(s.written, s.written)
		}
		s.out.Put(hearken.StreamEvent{Kind: hearken.Progress, FinalUntil: s.written})
		s.finish()
	case out:
		s.tell()
	}
}

// final tells what was said in an utterance.
func (s *stream) final(u *transcription) {
	before := max(s.through, u.pos)
	s.through = max(s.through, u.through)
	if u.gap {
		s.said = u.pos
		return
	}
	if u.heard.text == "" { // nobody spoke, or nobody could make it out
		s.silence(u.last, s.through)
		return
	}
	seg := u.segment()
	if start := stt.Position(seg.StartTime); start-s.said >= stt.MinSilence {
		s.silence(start, min(before, s.through))
	}
	s.said = stt.Position(seg.EndTime)
	s.out.Put(hearken.StreamEvent{Kind: hearken.Final, Segment: seg, FinalUntil: s.through, Endpoint: u.paused})
}

// segment is the entry for what was said.
func (u *transcription) segment() hearken.Segment {
	h := &u.heard
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

// translation tells what an utterance says in English.
func (s *stream) translation(u *transcription) {
	seg := u.segment()
	seg.Status, seg.Text, seg.Language, seg.Confidence = hearken.Translated, u.english, "en", nil
	seg.Words, seg.Estimated = nil, false
	s.out.Put(hearken.StreamEvent{Kind: hearken.Final, Segment: seg, FinalUntil: s.through})
}

// silence adds an entry for a stretch without speech that ends at end.
func (s *stream) silence(end, through int64) {
	s.out.Put(stt.Silence(min(s.said, end), end, through, s.wish.told))
	s.said = end
}

// safe is the position before which all sound is dealt with.
func (s *stream) safe() int64 {
	if len(s.pending) == 0 {
		s.through = max(s.through, min(s.position(s.cutter.Needed()), s.written))
	} else if u := s.pending[0]; !u.gap {
		s.through = max(s.through, u.pos)
	}
	return s.through
}

// tell reports how far the stream has come, and how much was heard since the
// oldest utterance ended that has no answer yet.
func (s *stream) tell() {
	s.told = s.heard()
	e := hearken.StreamEvent{Kind: hearken.Progress, FinalUntil: s.safe()}
	if len(s.pending) > 0 {
		e.Lag = max(0, stt.Seconds(s.told-s.pending[0].due-holds))
	}
	s.out.Put(e)
}
