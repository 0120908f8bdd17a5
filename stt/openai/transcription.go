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
	// maxWait is how long a stream waits before a retry. If a server asks for
	// more, the stream fails and its caller decides.
	maxWait = 5 * time.Second
	// tinyUtterance is an utterance so short that the stream continues without
	// it if the server cannot use it.
	tinyUtterance = 6 * hearken.SampleRate / 10
	// minAudio is what every server accepts: whisper.cpp finds no words in
	// less than a second. Shorter files are filled up with silence.
	minAudio = 11 * hearken.SampleRate / 10
)

// A transcription is one utterance on its way to a final, or a position where
// audio was lost.
type transcription struct {
	pos, end    int64 // the audio that is sent
	first, last int64 // the speech in it
	speech      []bool
	paused      bool  // the speaker paused after it
	due         int64 // position of the stream when it ended
	finalUntil  int64 // all audio before this is done when it is out
	gap         bool
	pcm         []int16

	begun, done bool
	shown       bool // its final is out
	result      transcript
	err         error
	translating bool
	english     string
}

func (s *stream) enqueue(sp *utterance.Span) {
	at := func(windows int) int64 { return min(s.position(windows), s.written) }
	u := &transcription{
		pos: at(sp.Start), end: at(sp.End), first: at(sp.First), last: at(sp.Last),
		speech: sp.Speech, paused: sp.Paused, due: s.processedUntil(),
	}
	u.finalUntil = u.end
	u.pcm = s.buffer.Copy(u.pos, u.end)
	s.pending = append(s.pending, u)
	s.sendNext()
}

// estimateWords spreads the words of a text over the speech between two moments.
func (u *transcription) estimateWords(text string, from, to float64) []hearken.Word {
	return utterance.EstimateWords(text, u.pos, u.speech, from, to)
}

// sendNext sends what waits, up to the limit of requests at a time.
func (s *stream) sendNext() {
	for _, u := range s.pending {
		switch {
		case s.inFlight == maxInFlight || u.err != nil:
			return
		case !u.begun && !u.gap:
			u.begun = true
			s.inFlight++
			go s.request(u)
		}
	}
}

// request transcribes an utterance and translates it if wanted. It runs in a
// goroutine of its own.
func (s *stream) request(u *transcription) {
	pcm := u.pcm
	if short := minAudio - len(pcm); short > 0 {
		pcm = append(pcm, make([]int16, short)...)
	}
	wav := audio.EncodeWAV(hearken.SampleRate, pcm)
	h, err := s.transcribe(u, wav)
	s.mu.Lock()
	defer s.mu.Unlock()
	u.result, u.err, u.done, u.pcm = h, err, err == nil, nil
	if u.done && !s.over && s.wantsTranslation(&h) {
		u.translating = true
		s.emitFinals()
		s.mu.Unlock()
		english := s.translate(wav)
		s.mu.Lock()
		u.english, u.translating = english, false
	}
	s.inFlight--
	if s.over {
		return
	}
	s.emitFinals()
	if !s.over {
		s.sendNext()
	}
}

// transcribe asks the server, and retries if the failure is temporary.
func (s *stream) transcribe(u *transcription, wav []byte) (transcript, error) {
	for attempt := 1; ; attempt++ {
		a, err := s.p.transcribe(s.requests, &s.options, wav, s.cfg.Interim, func(text string) { s.emitPartial(u, text) })
		if err == nil {
			return a.transcript(u, &s.options), nil
		}
		if r, ok := errors.AsType[*stt.Refusal](err); ok && rejectsAudio(r) && u.last-u.first < tinyUtterance {
			s.log.Warn("server cannot use a short utterance", "seconds", stt.Seconds(u.last-u.first), "status", r.Status, "code", r.Code)
			return transcript{}, nil
		}
		wait := backoff(attempt, err)
		if attempt == attempts || !isTemporary(err) || wait > maxWait {
			return transcript{}, err
		}
		s.log.Info("retrying the request", "attempt", attempt+1, "err", err)
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-s.requests.Done():
			timer.Stop()
			return transcript{}, context.Cause(s.requests)
		}
	}
}

// isTemporary reports whether a retry could help soon. A server that did not
// answer in time gets no second chance.
func isTemporary(err error) bool {
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

// emitPartial emits the server's text so far of an utterance, if everything
// before it is out.
func (s *stream) emitPartial(u *transcription, text string) {
	text = singleLine(text)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || !s.cfg.Interim || len(s.pending) == 0 || s.pending[0] != u || !hasSpeech(text) {
		return
	}
	s.out.Put(hearken.StreamEvent{Kind: hearken.Partial, Segment: hearken.Segment{
		Status: hearken.Unconfirmed, Text: text, Words: u.estimateWords(text, stt.Seconds(u.first), stt.Seconds(u.last)), Estimated: true,
		Language: s.options.sessionLanguage, StartTime: stt.Seconds(u.first), EndTime: stt.Seconds(u.last),
	}})
}

// wantsTranslation reports whether a translation is wanted and useful.
func (s *stream) wantsTranslation(h *transcript) bool {
	return s.cfg.Translate && !s.noTranslation && h.text != "" && language.Primary(h.language) != "en"
}

// translate translates an utterance. If that fails, only the translation is
// lost; a server that does not translate is not asked again.
func (s *stream) translate(wav []byte) string {
	a, err := s.p.translate(s.requests, &s.options, wav)
	if err == nil {
		if text := singleLine(a.text); hasSpeech(text) {
			return text
		}
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over && !s.noTranslation {
		s.noTranslation = !isTemporary(err)
		s.log.Warn("translation failed", "retry", !s.noTranslation, "err", err)
	}
	return ""
}
