package openai

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt"
	"github.com/hearken-dev/hearken/stt/utterance"
)

var _ hearken.Stream = (*stream)(nil)

const (
	maxInFlight = 2 // requests of a stream at a time
	maxPending  = 4 // utterances without an answer before Write blocks

	progressEvery = hearken.SampleRate
	// usualLag is how much audio may come in while a server transcribes an
	// utterance before that counts as lag.
	usualLag = 2 * hearken.SampleRate
)

var errClosed = errors.New("stream is closed")

// A stream is one channel of one session. Audio is detected and cut where it is
// written. A goroutine for each utterance sends it and delivers the answer under
// the stream's lock.
type stream struct {
	ctx         context.Context // of Open
	requests    context.Context // ends with the stream
	stop        context.CancelFunc
	stopAbandon func() bool
	p           *Provider
	cfg         hearken.StreamConfig
	options     streamOptions
	log         *slog.Logger
	out         *stt.Outbox

	mu      sync.Mutex
	changed sync.Cond // an answer came, or all is over
	err     error     // why no more audio is taken
	over    bool

	detector Detector
	cutter   *utterance.Cutter
	origin   int64 // position of the cutter's first window
	buffer   utterance.Buffer[int16]
	written  int64 // position after the last sample that was written
	scratch  [window]float32

	pending       []*transcription // ended, in order; their finals are still to come
	inFlight      int              // requests under way
	entriesUntil  int64            // the transcript has entries up to here
	reportedAt    int64            // position at the last Progress
	finalUntil    int64            // as it was last reported
	closing       bool
	noTranslation bool // the server does not translate
}

func newStream(ctx context.Context, p *Provider, cfg hearken.StreamConfig, o streamOptions, d Detector) *stream {
	s := &stream{
		ctx: ctx, p: p, cfg: cfg, options: o, detector: d, out: stt.NewOutbox(ctx),
		log:          p.log.With("session", cfg.Session, "origin", cfg.Origin, "provider", p.Name()),
		entriesUntil: cfg.Start, reportedAt: cfg.Start, finalUntil: cfg.Start,
	}
	s.changed.L = &s.mu
	s.requests, s.stop = context.WithCancel(ctx)
	s.restart(cfg.Start)
	s.stopAbandon = context.AfterFunc(ctx, s.abandon)
	return s
}

// restart begins anew at a position.
func (s *stream) restart(pos int64) {
	s.origin, s.cutter, s.written = pos, utterance.NewCutter(cuttingRules(s.cfg.Endpointing)), pos
	s.buffer = utterance.Buffer[int16]{Base: pos}
}

// Write takes the next frame. It blocks while too many utterances of this
// stream have no answer yet.
func (s *stream) Write(f hearken.Frame) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	if s.err != nil {
		return s.err
	}
	pcm := f.PCM
	switch gap := f.Pos - s.written; {
	case gap > 0:
		if err := s.skipTo(f.Pos); err != nil {
			return err
		}
	case gap < 0: // written before
		pcm = pcm[min(int64(len(pcm)), -gap):]
	}
	for len(pcm) > 0 {
		n := min(len(pcm), int(s.processedUntil()+window-s.buffer.End()))
		s.buffer.Append(pcm[:n]...)
		s.written += int64(n)
		pcm = pcm[n:]
		if err := s.processWindows(true); err != nil {
			return err
		}
	}
	return nil
}

// Events delivers the results.
func (s *stream) Events() <-chan hearken.StreamEvent { return s.out.Events() }

// Close ends the audio.
func (s *stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil || s.flush() != nil {
		return nil
	}
	s.err, s.closing = errClosed, true
	s.emitFinals()
	return nil
}

// Finalize ends the current utterance, although the speaker has not paused.
func (s *stream) Finalize() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	if sp := s.cutter.End(); sp != nil {
		s.enqueue(sp)
	}
	if n := len(s.pending); s.cutter.Onset() < 0 {
		// What is left is silence: nobody has to wait for it.
		if n > 0 {
			s.pending[n-1].finalUntil = s.written
		} else {
			s.finalUntil = s.written
		}
	}
	s.reportProgress()
	return nil
}

// processedUntil is the position up to which the cutter has seen all audio.
func (s *stream) processedUntil() int64 { return s.position(s.cutter.Seen()) }

func (s *stream) position(windows int) int64 { return s.origin + int64(windows)*window }

// processWindows detects and cuts all whole windows in the buffer. If wait is
// set, it blocks while too many utterances are pending.
func (s *stream) processWindows(wait bool) error {
	for s.buffer.End()-s.processedUntil() >= window {
		for wait && len(s.pending) > maxPending && s.err == nil {
			s.changed.Wait()
		}
		if s.err != nil {
			return s.err
		}
		at := s.processedUntil() - s.buffer.Base
		for i, x := range s.buffer.PCM[at : at+window] {
			s.scratch[i] = float32(x) / 32768
		}
		prob, err := s.detector.Feed(s.scratch[:])
		if err != nil {
			s.fail(detectorError(err))
			return s.err
		}
		c := s.cutter.Push(prob, loudness(s.scratch[:])/20)
		if c.Began {
			s.out.Put(hearken.StreamEvent{Kind: hearken.SpeechStarted, Time: stt.Seconds(s.position(s.cutter.Onset()))})
		}
		if c.Ended != nil {
			s.enqueue(c.Ended)
		}
		s.afterWindow()
	}
	return nil
}

// afterWindow reports silence and progress if it is time to.
func (s *stream) afterWindow() {
	now := s.processedUntil()
	if !s.cutter.Speaking() && len(s.pending) == 0 && now-s.entriesUntil >= stt.MaxSilence {
		s.emitSilence(s.finalPosition(), s.finalPosition())
	}
	if now-s.reportedAt >= progressEvery {
		s.reportProgress()
	}
	s.buffer.Forget(s.position(s.cutter.Needed()))
}

// skipTo continues at a later position. Audio was lost in between, so the
// current utterance ends and the detector starts anew.
func (s *stream) skipTo(to int64) error {
	if err := s.flush(); err != nil {
		return err
	}
	s.pending = append(s.pending, &transcription{gap: true, pos: to, finalUntil: to})
	s.detector.Close()
	d, err := s.p.cfg.Detector()
	if err != nil {
		s.detector = nil
		s.fail(detectorError(err))
		return s.err
	}
	s.detector = d
	s.restart(to)
	s.emitFinals()
	return nil
}

// flush ends the current utterance where the audio ends. The last window is
// filled up with silence.
func (s *stream) flush() error {
	if short := s.written - s.processedUntil(); short > 0 {
		s.buffer.Append(make([]int16, window-short)...)
		if err := s.processWindows(false); err != nil {
			return err
		}
	}
	if sp := s.cutter.End(); sp != nil {
		s.enqueue(sp)
	}
	s.buffer = utterance.Buffer[int16]{Base: s.written}
	return nil
}

// fail ends the stream with an error, or with that of its context.
func (s *stream) fail(err error) {
	if s.over {
		return
	}
	if s.ctx.Err() != nil {
		s.err = context.Cause(s.ctx)
	} else {
		s.err = err
		s.out.Put(hearken.StreamEvent{Kind: hearken.Failed, Err: err})
	}
	s.finish()
}

// abandon ends the stream because its context did.
func (s *stream) abandon() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail(context.Cause(s.ctx))
}

// finish releases everything. It is called once.
func (s *stream) finish() {
	s.over = true
	s.stop()
	s.stopAbandon()
	s.pending = nil
	s.buffer = utterance.Buffer[int16]{}
	s.changed.Broadcast()
	s.out.Close()
	if s.detector != nil {
		s.detector.Close()
	}
}
