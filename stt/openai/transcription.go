package openai

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
	"github.com/hearken-dev/hearken/stt"
	"github.com/hearken-dev/hearken/stt/language"
	"github.com/hearken-dev/hearken/stt/utterance"
)

const (
	attempts = 3
	// longestWait is how long a stream waits by itself before it asks again;
	// a server that asks for more is left to whoever opened the stream.
	longestWait = 5 * time.Second
	// tiny is an utterance that is lost without the session's end if the
	// server cannot use it.
	tiny = 6 * hearken.SampleRate / 10
	// shortest is what every server takes: whisper.cpp hears nothing at all in
	// less than a second. Shorter files are filled up with silence.
	shortest = 11 * hearken.SampleRate / 10
)

// An utterance is one stretch of speech on its way to a final, or a place
// where sound was lost.
type transcription struct {
	pos, end    int64 // the sound that is sent
	first, last int64 // the speech in it
	speech      []bool
	paused      bool  // the speaker paused after it
	due         int64 // how much was heard when it ended
	through     int64 // how far all is dealt with when it is out
	gap         bool
	pcm         []int16

	begun, done bool
	shown       bool // its final is out
	heard       heard
	err         error
	translating bool
	english     string
}

// send queues what was cut.
func (s *stream) send(sp *utterance.Span) {
	at := func(windows int) int64 { return min(s.position(windows), s.written) }
	u := &transcription{
		pos: at(sp.Start), end: at(sp.End), first: at(sp.First), last: at(sp.Last),
		speech: sp.Speech, paused: sp.Paused, due: s.heard(),
	}
	u.through = u.end
	u.pcm = s.buffer.Copy(u.pos, u.end)
	s.pending = append(s.pending, u)
	s.launch()
}

// estimate spreads the words of a text over the speech between two moments.
func (u *transcription) estimate(text string, from, to float64) []hearken.Word {
	return utterance.EstimateWords(text, u.pos, u.speech, from, to)
}

// launch sends what waits, as far as the server may be asked.
func (s *stream) launch() {
	for _, u := range s.pending {
		switch {
		case s.busy == atOnce || u.err != nil:
			return
		case !u.begun && !u.gap:
			u.begun = true
			s.busy++
			go s.ask(u)
		}
	}
}

// ask finds out what an utterance says, and what that is in English. It runs in
// a goroutine of its own.
func (s *stream) ask(u *transcription) {
	pcm := u.pcm
	if short := shortest - len(pcm); short > 0 {
		pcm = append(pcm, make([]int16, short)...)
	}
	wav := audio.EncodeWAV(hearken.SampleRate, pcm)
	h, err := s.hear(u, wav)
	s.mu.Lock()
	defer s.mu.Unlock()
	u.heard, u.err, u.done, u.pcm = h, err, err == nil, nil
	if u.done && !s.over && s.foreign(&h) {
		u.translating = true
		s.settle()
		s.mu.Unlock()
		english := s.english(wav)
		s.mu.Lock()
		u.english, u.translating = english, false
	}
	s.busy--
	if s.over {
		return
	}
	s.settle()
	if !s.over {
		s.launch()
	}
}

// hear asks the server, and again if it fails for the moment.
func (s *stream) hear(u *transcription, wav []byte) (heard, error) {
	for attempt := 1; ; attempt++ {
		a, err := s.p.transcribe(s.asking, &s.wish, wav, s.cfg.Interim, func(text string) { s.show(u, text) })
		if err == nil {
			return a.judge(u, &s.wish), nil
		}
		if r, ok := errors.AsType[*stt.Refusal](err); ok && rejectsAudio(r) && u.last-u.first < tiny {
			s.log.Warn("server cannot use a short utterance", "seconds", stt.Seconds(u.last-u.first), "status", r.Status, "code", r.Code)
			return heard{}, nil
		}
		wait := backoff(attempt, err)
		if attempt == attempts || !temporary(err) || wait > longestWait {
			return heard{}, err
		}
		s.log.Info("asking the server again", "attempt", attempt+1, "err", err)
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-s.asking.Done():
			timer.Stop()
			return heard{}, context.Cause(s.asking)
		}
	}
}

// temporary tells whether asking again soon could help. A server that did not
// answer in time has had its time.
func temporary(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	if r, ok := errors.AsType[*stt.Refusal](err); ok && rejectsAudio(r) {
		return false
	}
	switch hearken.CodeOf(err) {
	case hearken.ProviderConnectionFailed, hearken.Busy:
		return true
	}
	return false
}

// backoff is half a second, then one and a half, give or take a fifth, or as
// long as the server asks for.
func backoff(attempt int, err error) time.Duration {
	d := float64(time.Second) * (float64(attempt) - 0.5)
	wait := time.Duration(d * (0.8 + 0.4*rand.Float64()))
	if r, ok := errors.AsType[*stt.Refusal](err); ok {
		wait = max(wait, r.RetryAfter())
	}
	return wait
}

// show tells what the server has told so far of an utterance, if everything
// before it is out.
func (s *stream) show(u *transcription, text string) {
	text = tidy(text)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || !s.cfg.Interim || len(s.pending) == 0 || s.pending[0] != u || !says(text) {
		return
	}
	s.out.Put(hearken.StreamEvent{Kind: hearken.Partial, Segment: hearken.Segment{
		Status: hearken.Unconfirmed, Text: text, Words: u.estimate(text, stt.Seconds(u.first), stt.Seconds(u.last)), Estimated: true,
		Language: s.wish.told, StartTime: stt.Seconds(u.first), EndTime: stt.Seconds(u.last),
	}})
}

// foreign tells whether a translation is wanted, and of use.
func (s *stream) foreign(h *heard) bool {
	return s.cfg.Translate && !s.mute && h.text != "" && language.Primary(h.language) != "en"
}

// english translates an utterance. One that cannot be translated costs only its
// translation; a server that does not translate is not asked again.
func (s *stream) english(wav []byte) string {
	a, err := s.p.translate(s.asking, &s.wish, wav)
	if err == nil {
		if text := tidy(a.text); says(text) {
			return text
		}
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over && !s.mute {
		s.mute = !temporary(err)
		s.log.Warn("translation failed", "again", !s.mute, "err", err)
	}
	return ""
}
