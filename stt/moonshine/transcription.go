package moonshine

import (
	"slices"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt"
	"github.com/hearken-dev/hearken/stt/utterance"
)

// When unconfirmed text is shown, in samples: first as soon as a word may have
// been said, soon after that while there is none, then often. A longer
// utterance costs more each time, so it is shown less often.
const (
	firstPartial = 448 * hearken.SampleRate / 1000
	retryPartial = 160 * hearken.SampleRate / 1000
	earlyPartial = hearken.SampleRate / 2
	latePartial  = hearken.SampleRate
	lateAfter    = 6 * hearken.SampleRate
	busyLoad     = 0.5 // share of the cores in use from which on it is always less often
	draftSpare   = 2   // tokens at the end of a draft that are likely to change
)

// maxPause is the longest pause inside a passage, in samples.
const maxPause = 2 * hearken.SampleRate

// A transcription is one utterance on its way to a final, or a position where
// audio was lost.
type transcription struct {
	pos, end    int64  // the audio that is decoded
	first, last int64  // the speech in it
	speech      []bool // in each window
	due         int64  // position of the stream when it ended
	finalUntil  int64  // all audio before this is done when it is out

	// A passage is a few utterances in a row that are decoded from the
	// beginning of the first.
	passage       int64          // where the passage begins
	lead          int64          // the silence that it begins with
	follows       *transcription // the utterance before this one
	followedBy    *transcription // waits for this one
	passageTokens []int32        // of the passage, up to and with this utterance

	task *task
	gap  bool // audio was lost

	ended  bool // the utterance has ended; before that it is a guess
	paused bool // the speaker paused after it
	done   bool
	result transcript
}

// estimateWords spreads the words of a text over the speech; their times are estimates.
func (u *transcription) estimateWords(text string) []hearken.Word {
	return utterance.EstimateWords(text, u.pos, u.speech, stt.Seconds(u.first), stt.Seconds(u.last))
}

// newTranscription makes one for the audio of a span and the rest samples after
// it. If it follows closely on the last utterance, it joins its passage.
func (s *stream) newTranscription(sp *utterance.Span, rest int64) *transcription {
	u := &transcription{
		pos: s.position(sp.Start), end: s.position(sp.End) + rest,
		first: s.position(sp.First), last: s.position(sp.Last), speech: sp.Speech,
	}
	u.passage, u.lead = u.pos, u.first-u.pos
	p := s.lastEnded
	if s.mode.live && p != nil && p.passage >= s.buffer.Base && u.end-p.passage <= s.transcriber.maxPassage() && u.first-p.last <= maxPause {
		u.passage, u.lead, u.follows = p.passage, p.lead, p
	}
	return u
}

// queueDecoding queues a transcription, or has it wait for the one that it follows.
func (s *stream) queueDecoding(u *transcription, c priority) {
	pcm := s.buffer.Copy(u.passage, u.end)
	if !s.mode.live {
		c = partialTask
	}
	u.task = &task{priority: c, run: func() { s.decodeFinal(u, pcm) }, failed: s.failAfterPanic}
	if u.follows != nil && !u.follows.done {
		u.follows.followedBy = u
		return
	}
	s.sched.add(u.task)
}

// decodeFinal decodes an utterance or a guess. It runs on a worker.
func (s *stream) decodeFinal(u *transcription, pcm []float32) {
	var before []int32
	if u.follows != nil {
		before = u.follows.passageTokens
	}
	_, wait := s.sched.pressure()
	spare := s.mode.live && wait == 0 // nobody else waits; recordings are decoded well enough
	h, err := s.transcriber.transcribeFinal(s.ctx, u, pcm, before, spare)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return
	}
	if err != nil {
		s.fail(err)
		return
	}
	u.done, u.result = true, h
	if !h.unintelligible {
		u.passageTokens = append(slices.Clip(before), h.tokens...)
	}
	if next := u.followedBy; next != nil {
		u.followedBy = nil
		s.sched.add(next.task)
	}
	u.follows = nil  // or each would keep all earlier ones in memory
	u.task.run = nil // and this its audio
	s.changed.Broadcast()
	switch {
	case u.ended:
		s.emitFinals()
	case s.guess != u && s.cutter.Speaking() && s.position(s.cutter.Needed()) == u.pos:
		s.showPartial(h, u) // the speaker continued: the guess is still news
	}
}

// startGuess decodes what would be the utterance if the pause that has just
// begun ends it, so that its words are ready when the pause is long enough.
func (s *stream) startGuess(sp *utterance.Span) {
	s.guess = s.newTranscription(sp, 0)
	s.queueDecoding(s.guess, likelyTask)
}

// isComplete waits for the guess and reports whether it can stand alone. Text
// that the model is unsure of is mostly the first half of a sentence.
func (s *stream) isComplete() bool {
	u := s.guess
	if u == nil {
		return true
	}
	s.sched.promote(u.task, finalTask)
	for !u.done && s.err == nil {
		s.changed.Wait()
	}
	if s.err != nil || u.result.isSure() {
		return true
	}
	s.showPartial(u.result, u)
	return false
}

// dropGuess withdraws a guess because the speaker continued.
func (s *stream) dropGuess() {
	u := s.guess
	s.guess = nil
	if u == nil {
		return
	}
	if u.done && !s.over {
		s.showPartial(u.result, u)
	}
	s.sched.withdraw(u.task)
	if f := u.follows; f != nil && f.followedBy == u {
		f.followedBy = nil
	}
}

// endUtterance makes a span final, with the guess's result if it was right.
func (s *stream) endUtterance(sp *utterance.Span, rest int64) {
	u := s.newTranscription(sp, rest)
	if g := s.guess; g != nil && g.pos == u.pos && g.end == u.end {
		u = g
		s.guess = nil
		s.sched.promote(u.task, finalTask)
	} else {
		s.dropGuess()
		s.queueDecoding(u, finalTask)
	}
	u.ended, u.paused = true, sp.Paused
	s.lastEnded = u
	u.due = s.processedUntil()
	u.finalUntil = u.end
	s.turn++
	s.draft, s.heldPartial = nil, nil
	s.nextPartial = s.position(sp.End) + firstPartial
	if s.partial != nil && s.sched.withdraw(s.partial) {
		s.partial = nil
	}
	s.pending = append(s.pending, u)
	s.emitFinals()
}

// emitFinals emits the finals that are next in order.
func (s *stream) emitFinals() {
	out := false
	for len(s.pending) > 0 && s.pending[0].done {
		u := s.pending[0]
		s.pending = s.pending[1:]
		s.emitFinal(u)
		out = true
	}
	if len(s.pending) == 0 {
		s.pending = nil
		if s.heldPartial != nil {
			s.out.Put(hearken.StreamEvent{Kind: hearken.Partial, Segment: *s.heldPartial})
			s.heldPartial = nil
		}
	}
	if s.closing && len(s.pending) == 0 && !s.over {
		end := s.buffer.Base
		if end-s.entriesUntil >= stt.MinSilence {
			s.emitSilence(end, end)
		}
		s.out.Put(hearken.StreamEvent{Kind: hearken.Progress, FinalUntil: s.advanceFinal(end)})
		s.finish()
		return
	}
	s.changed.Broadcast()
	if out {
		s.reportProgress()
	}
}

func (s *stream) emitFinal(u *transcription) {
	if u.gap {
		s.entriesUntil = u.pos
		s.advanceFinal(u.finalUntil)
		return
	}
	if s.observe != nil {
		s.observe(u)
	}
	if !u.result.hasSpeech() {
		s.advanceFinal(u.finalUntil)
		return // not speech after all: it is part of the silence around it
	}
	if u.first-s.entriesUntil >= stt.MinSilence {
		s.emitSilence(u.first, u.pos)
	}
	s.entriesUntil = u.last
	s.out.Put(hearken.StreamEvent{
		Kind: hearken.Final, FinalUntil: s.advanceFinal(u.finalUntil), Endpoint: u.paused, Segment: u.segment(s.cfg),
	})
}

// schedulePartial decodes the current utterance so far if it is time to.
func (s *stream) schedulePartial() {
	if !s.cfg.Interim || s.partial != nil || s.guess != nil || s.processedUntil() < s.nextPartial {
		return
	}
	turn := s.turn
	s.partial = &task{priority: partialTask, run: func() { s.decodePartial(turn) }, failed: s.failAfterPanic}
	s.sched.add(s.partial)
}

// decodePartial runs on a worker. It takes the audio as it is now, not as it
// was when the task was queued.
func (s *stream) decodePartial(turn int) {
	u, pcm, draft := s.partialInput(turn)
	if u == nil {
		return
	}
	p, err := s.transcriber.transcribePartial(s.ctx, pcm, draft)

	s.mu.Lock()
	defer s.mu.Unlock()
	s.partial = nil
	if s.over || err != nil || s.turn != turn || !s.cutter.Speaking() {
		return // the final reports an error that persists
	}
	s.nextPartial = u.end + s.partialInterval(p.text == "", u.end-u.pos)
	s.showPartial(p, u)
}

// partialInput is the current utterance so far; nil if it is over.
func (s *stream) partialInput(turn int) (u *transcription, pcm []float32, draft []int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || s.turn != turn || !s.cutter.Speaking() {
		s.partial = nil
		return nil, nil, nil
	}
	u = s.newTranscription(s.cutter.Current(), 0)
	return u, s.buffer.Copy(max(u.pos, u.first-shortLead), u.end), s.draft
}

// partialInterval is how much later the next partial is due, after one of so
// much audio.
func (s *stream) partialInterval(empty bool, length int64) int64 {
	load, _ := s.sched.pressure()
	switch {
	case load > busyLoad || length > lateAfter:
		return latePartial
	case empty:
		return retryPartial
	}
	return earlyPartial
}

// showPartial shows unconfirmed text, after the finals that come before it.
func (s *stream) showPartial(p transcript, u *transcription) {
	if len(p.tokens) > draftSpare {
		s.draft = p.tokens[:len(p.tokens)-draftSpare]
	}
	if p.text == "" || !s.cfg.Interim {
		return
	}
	seg := u.unconfirmed(p.text, s.cfg)
	if len(s.pending) > 0 {
		s.heldPartial = &seg
		return
	}
	s.out.Put(hearken.StreamEvent{Kind: hearken.Partial, Segment: seg})
}
