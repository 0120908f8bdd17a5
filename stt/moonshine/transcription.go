package moonshine

import (
	"slices"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt"
	"github.com/hearken-dev/hearken/stt/utterance"
)

// When unconfirmed text is shown, in samples: first as soon as a word may have
// been said, soon again while there is none to show, then often, then, as each
// look at a longer segment costs more, less often.
const (
	firstShow  = 448 * hearken.SampleRate / 1000
	showAgain  = 160 * hearken.SampleRate / 1000
	showEarly  = hearken.SampleRate / 2
	showLate   = hearken.SampleRate
	lateAfter  = 6 * hearken.SampleRate
	busyShare  = 0.5 // of the cores in use: from here on always less often
	draftSpare = 2   // tokens at the end of a draft that are likely to change
)

// What belongs together, in samples: nothing across a longer pause.
const maxPause = 2 * hearken.SampleRate

// An utterance is one stretch of speech on its way to a final, or a place
// where sound was lost.
type transcription struct {
	pos, end    int64  // the sound that is decoded
	first, last int64  // the speech in it
	speech      []bool // in each window
	due         int64  // how much was heard when it ended
	through     int64  // how far all is dealt with when it is out

	// A passage is a few utterances in a row, heard from the beginning of the
	// first: passage is where that is, lead how much silence it begins with,
	// follows the one before this one.
	passage int64
	lead    int64
	follows *transcription
	leads   *transcription // waits for this one
	said    []int32        // tokens of the passage up to and with this one

	task *task
	gap  bool

	ended bool // the speaker has stopped; before that it is a guess
	pause bool // and has paused, not just spoken for long
	done  bool
	heard heard
}

// words spreads the words of a text over the speech; their times are estimates.
func (u *transcription) words(text string) []hearken.Word {
	return utterance.EstimateWords(text, u.pos, u.speech, stt.Seconds(u.first), stt.Seconds(u.last))
}

// transcription is one for the audio of a span and the rest of a window after
// it.
func (s *stream) transcription(sp *utterance.Span, rest int64) *transcription {
	u := &transcription{
		pos: s.position(sp.Start), end: s.position(sp.End) + rest,
		first: s.position(sp.First), last: s.position(sp.Last), speech: sp.Speech,
	}
	u.passage, u.lead = u.pos, u.first-u.pos
	p := s.passage
	if s.mode.live && p != nil && p.passage >= s.buffer.Base && u.end-p.passage <= s.ear.passage() && u.first-p.last <= maxPause {
		u.passage, u.lead, u.follows = p.passage, p.lead, p
	}
	return u
}

// decode queues an utterance, or lets it wait for the one that it follows.
func (s *stream) decode(u *transcription, c class) {
	pcm := s.buffer.Copy(u.passage, u.end)
	if !s.mode.live {
		c = partialTask
	}
	u.task = &task{class: c, run: func() { s.decoded(u, pcm) }, failed: s.panicked}
	if u.follows != nil && !u.follows.done {
		u.follows.leads = u
		return
	}
	s.sched.add(u.task)
}

// decoded runs on a worker.
func (s *stream) decoded(u *transcription, pcm []float32) {
	var before []int32
	if u.follows != nil {
		before = u.follows.said
	}
	_, wait := s.sched.pressure()
	spare := s.mode.live && wait == 0 // nobody else waits; a long piece is heard well enough
	h, err := s.ear.final(s.ctx, u, pcm, before, spare)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return
	}
	if err != nil {
		s.fail(err)
		return
	}
	u.done, u.heard = true, h
	if !h.strange {
		u.said = append(slices.Clip(before), h.tokens...)
	}
	if next := u.leads; next != nil {
		u.leads = nil
		s.sched.add(next.task)
	}
	u.follows = nil // or each would hold all that came before it
	s.room.Broadcast()
	switch {
	case u.ended:
		s.settle()
	case s.likely != u && s.cutter.Speaking() && s.position(s.cutter.Needed()) == u.pos:
		s.present(h.partial(), u) // the speaker went on: the guess is still news
	}
}

// guess decodes what would be the segment if the pause that has just begun
// ends it, so that the words are there when the pause is long enough.
func (s *stream) guess(sp *utterance.Span) {
	s.likely = s.transcription(sp, 0)
	s.decode(s.likely, likelyTask)
}

// enough waits for the guess and tells whether it can stand alone. A text that
// the model is unsure of is mostly the first half of something.
func (s *stream) enough() bool {
	u := s.likely
	if u == nil {
		return true
	}
	s.sched.promote(u.task, finalTask)
	for !u.done && s.err == nil {
		s.room.Wait()
	}
	if s.err != nil || u.heard.sure() {
		return true
	}
	s.present(u.heard.partial(), u)
	return false
}

// drop takes a guess back: the speaker has gone on.
func (s *stream) drop() {
	u := s.likely
	s.likely = nil
	if u == nil {
		return
	}
	if u.done && !s.over {
		s.present(u.heard.partial(), u)
	}
	s.sched.withdraw(u.task)
	if f := u.follows; f != nil && f.leads == u {
		f.leads = nil
	}
}

// end makes a span final, with the guess's result if it was right.
func (s *stream) end(sp *utterance.Span, rest int64) {
	u := s.transcription(sp, rest)
	if g := s.likely; g != nil && g.pos == u.pos && g.end == u.end {
		u = g
		s.likely = nil
		s.sched.promote(u.task, finalTask)
	} else {
		s.drop()
		s.decode(u, finalTask)
	}
	u.ended, u.pause = true, sp.Paused
	s.passage = u
	u.due = s.nextWindow()
	u.through = u.end
	s.turn++
	s.draft, s.held = nil, nil
	s.nextShow = s.position(sp.End) + firstShow
	if s.partial != nil && s.sched.withdraw(s.partial) {
		s.partial = nil
	}
	s.pending = append(s.pending, u)
	s.settle()
}

// settle brings out the finals that are next in order.
func (s *stream) settle() {
	out := false
	for len(s.pending) > 0 && s.pending[0].done {
		u := s.pending[0]
		s.pending = s.pending[1:]
		s.settled(u)
		out = true
	}
	if len(s.pending) == 0 {
		s.pending = nil
		if s.held != nil {
			s.out.Put(hearken.StreamEvent{Kind: hearken.Partial, Segment: *s.held})
			s.held = nil
		}
	}
	if s.closing && len(s.pending) == 0 && !s.over {
		end := s.buffer.Base
		if end-s.said >= stt.MinSilence {
			s.silence(end, end)
		}
		s.out.Put(hearken.StreamEvent{Kind: hearken.Progress, FinalUntil: s.upTo(end)})
		s.finish()
		return
	}
	s.room.Broadcast()
	if out {
		s.tell()
	}
}

func (s *stream) settled(u *transcription) {
	if u.gap {
		s.said = u.pos
		s.upTo(u.through)
		return
	}
	if s.noted != nil {
		s.noted(u)
	}
	if !u.heard.speech() {
		s.upTo(u.through)
		return // it was not speech after all: part of the silence around it
	}
	if u.first-s.said >= stt.MinSilence {
		s.silence(u.first, u.pos)
	}
	s.said = u.last
	s.out.Put(hearken.StreamEvent{
		Kind: hearken.Final, FinalUntil: s.upTo(u.through), Endpoint: u.pause, Segment: s.ear.segment(u, s.cfg),
	})
}

// show looks at what is being said if it is time to.
func (s *stream) show() {
	if !s.cfg.Interim || s.partial != nil || s.likely != nil || s.nextWindow() < s.nextShow {
		return
	}
	turn := s.turn
	s.partial = &task{class: partialTask, run: func() { s.look(turn) }, failed: s.panicked}
	s.sched.add(s.partial)
}

// look runs on a worker. It takes the sound as it is now, not as it was when
// the look was asked for.
func (s *stream) look(turn int) {
	u, pcm, draft := s.sight(turn)
	if u == nil {
		return
	}
	p, err := s.ear.partial(s.ctx, pcm, draft)

	s.mu.Lock()
	defer s.mu.Unlock()
	s.partial = nil
	if s.over || err != nil || s.turn != turn || !s.cutter.Speaking() {
		return // an error will come again with the final
	}
	s.nextShow = u.end + s.pauseToShow(p.text == "", u.end-u.pos)
	s.present(p, u)
}

// sight is what there is to look at, unless that is over.
func (s *stream) sight(turn int) (u *transcription, pcm []float32, draft []int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || s.turn != turn || !s.cutter.Speaking() {
		s.partial = nil
		return nil, nil, nil
	}
	u = s.transcription(s.cutter.Current(), 0)
	return u, s.buffer.Copy(max(u.pos, u.first-shortLead), u.end), s.draft
}

// pauseToShow is how long not to look again after a look at so much sound.
func (s *stream) pauseToShow(nothing bool, sound int64) int64 {
	load, _ := s.sched.pressure()
	switch {
	case load > busyShare || sound > lateAfter:
		return showLate
	case nothing:
		return showAgain
	}
	return showEarly
}

// present shows unconfirmed text, after the finals that come before it.
func (s *stream) present(p glimpse, u *transcription) {
	if len(p.tokens) > draftSpare {
		s.draft = p.tokens[:len(p.tokens)-draftSpare]
	}
	if p.text == "" || !s.cfg.Interim {
		return
	}
	seg := s.ear.unconfirmed(p, u, s.cfg)
	if len(s.pending) > 0 {
		s.held = &seg
		return
	}
	s.out.Put(hearken.StreamEvent{Kind: hearken.Partial, Segment: seg})
}
