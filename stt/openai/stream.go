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
	atOnce  = 2 // requests of a stream that are under way at a time
	backlog = 4 // utterances without an answer before Write waits

	progressEvery = hearken.SampleRate
	// holds is how much sound may come in while a server works on an
	// utterance before that counts as being behind.
	holds = 2 * hearken.SampleRate
)

var errClosed = errors.New("stream is closed")

// A stream is one channel of one session. Sound is detected and cut where it is
// written. Each utterance is sent by a goroutine of its own, which comes back
// with the answer under the stream's lock.
type stream struct {
	ctx    context.Context // of Open
	asking context.Context // of the requests: ends with the stream
	stop   context.CancelFunc
	unhook func() bool // from ctx
	p      *Provider
	cfg    hearken.StreamConfig
	wish   wish
	log    *slog.Logger
	out    *stt.Outbox

	mu   sync.Mutex
	room sync.Cond // an answer came, or all is over
	err  error     // why no more sound is taken
	over bool

	detector Detector
	cutter   *utterance.Cutter
	origin   int64 // position of the cutter's first window
	buffer   utterance.Buffer[int16]
	written  int64 // position after the last sample that was written
	scratch  [window]float32

	pending []*transcription // ended, in order; their finals are still to come
	busy    int              // requests under way
	said    int64            // up to here the transcript has an entry
	told    int64            // position at the last Progress
	through int64            // up to here all is dealt with, as was told
	closing bool
	mute    bool // translations are not to be had
}

func newStream(ctx context.Context, p *Provider, cfg hearken.StreamConfig, w wish, d Detector) *stream {
	s := &stream{
		ctx: ctx, p: p, cfg: cfg, wish: w, detector: d, out: stt.NewOutbox(ctx),
		log:  p.log.With("session", cfg.Session, "origin", cfg.Origin, "provider", p.Name()),
		said: cfg.Start, told: cfg.Start, through: cfg.Start,
	}
	s.room.L = &s.mu
	s.asking, s.stop = context.WithCancel(ctx)
	s.begin(cfg.Start)
	s.unhook = context.AfterFunc(ctx, s.abandon)
	return s
}

// begin listens from a position on.
func (s *stream) begin(pos int64) {
	s.origin, s.cutter, s.written = pos, utterance.NewCutter(rules(s.cfg.Endpointing)), pos
	s.buffer = utterance.Buffer[int16]{Base: pos}
}

// Write takes the next frame. It waits while more than a few utterances of this
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
		if err := s.jump(f.Pos); err != nil {
			return err
		}
	case gap < 0: // heard before
		pcm = pcm[min(int64(len(pcm)), -gap):]
	}
	for len(pcm) > 0 {
		n := min(len(pcm), int(s.heard()+window-s.buffer.End()))
		s.buffer.Append(pcm[:n]...)
		s.written += int64(n)
		pcm = pcm[n:]
		if err := s.listen(true); err != nil {
			return err
		}
	}
	return nil
}

// Events delivers what was heard.
func (s *stream) Events() <-chan hearken.StreamEvent { return s.out.Events() }

// Close says that no more sound comes.
func (s *stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil
	}
	if s.flush() != nil {
		return nil
	}
	s.err, s.closing = errClosed, true
	s.settle()
	return nil
}

// Finalize ends what is being said now, though the speaker has not paused.
func (s *stream) Finalize() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	if sp := s.cutter.End(); sp != nil {
		s.send(sp)
	}
	if n := len(s.pending); s.cutter.Onset() < 0 {
		// What is left is silence: nobody has to wait for it.
		if n > 0 {
			s.pending[n-1].through = s.written
		} else {
			s.through = s.written
		}
	}
	s.tell()
	return nil
}

// heard is the position up to which the cutter has heard everything.
func (s *stream) heard() int64 { return s.position(s.cutter.Seen()) }

func (s *stream) position(windows int) int64 { return s.origin + int64(windows)*window }

// listen detects and cuts all whole windows on the tape, at the pace of the
// server if asked to wait.
func (s *stream) listen(wait bool) error {
	for s.buffer.End()-s.heard() >= window {
		for wait && len(s.pending) > backlog && s.err == nil {
			s.room.Wait()
		}
		if s.err != nil {
			return s.err
		}
		at := s.heard() - s.buffer.Base
		for i, x := range s.buffer.PCM[at : at+window] {
			s.scratch[i] = float32(x) / 32768
		}
		prob, err := s.detector.Feed(s.scratch[:])
		if err != nil {
			s.fail(noDetector(err))
			return s.err
		}
		c := s.cutter.Push(prob, loudness(s.scratch[:])/20)
		if c.Began {
			s.out.Put(hearken.StreamEvent{Kind: hearken.SpeechStarted, Time: stt.Seconds(s.position(s.cutter.Onset()))})
		}
		if c.Ended != nil {
			s.send(c.Ended)
		}
		s.advance()
	}
	return nil
}

// advance tells how far the stream has come, if it is time to.
func (s *stream) advance() {
	heard := s.heard()
	if !s.cutter.Speaking() && len(s.pending) == 0 && heard-s.said >= stt.MaxSilence {
		s.silence(s.safe(), s.safe())
	}
	if heard-s.told >= progressEvery {
		s.tell()
	}
	s.buffer.Forget(s.position(s.cutter.Needed()))
}

// jump goes on at a later position: sound was lost in between, so nothing that
// was being said goes on, and the detector's memory is worth nothing.
func (s *stream) jump(to int64) error {
	if err := s.flush(); err != nil {
		return err
	}
	s.pending = append(s.pending, &transcription{gap: true, pos: to, through: to})
	s.detector.Close()
	d, err := s.p.cfg.Detector()
	if err != nil {
		s.detector = nil
		s.fail(noDetector(err))
		return s.err
	}
	s.detector = d
	s.begin(to)
	s.settle()
	return nil
}

// flush ends what is being said where the sound ends. The last window is
// filled up with silence.
func (s *stream) flush() error {
	if short := s.written - s.heard(); short > 0 {
		s.buffer.Append(make([]int16, window-short)...)
		if err := s.listen(false); err != nil {
			return err
		}
	}
	if sp := s.cutter.End(); sp != nil {
		s.send(sp)
	}
	s.buffer = utterance.Buffer[int16]{Base: s.written}
	return nil
}

// fail ends the stream with an error.
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
	if s.over {
		return
	}
	s.err = context.Cause(s.ctx)
	s.finish()
}

// finish lets everything go, once.
func (s *stream) finish() {
	s.over = true
	s.stop()
	s.unhook()
	s.pending = nil
	s.buffer = utterance.Buffer[int16]{}
	s.room.Broadcast()
	s.out.Close()
	if s.detector != nil {
		s.detector.Close()
	}
}
