package moonshine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime/debug"
	"sync"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt"
	"github.com/hearken-dev/hearken/stt/utterance"
)

var _ hearken.Stream = (*stream)(nil)

// A detector tells how likely each window of one channel is speech. It
// remembers what it heard before, so each stream has its own.
type detector interface {
	Feed(frame []float32) (float32, error)
	Reset()
	Close()
}

const (
	// quiet is the peak below which a window holds nothing to detect: two
	// steps of the sixteen-bit scale, which dither and idle converters reach.
	quiet = 2.5 / 32768
	// settled is how many quiet windows the detector hears before it is spared
	// the rest.
	settled = 16

	progressEvery = hearken.SampleRate
)

var errClosed = errors.New("stream is closed")

// A stream is one channel of one session. Sound is detected and cut where it
// is written; decoding happens on the scheduler's workers, which come back
// with their results under the stream's lock.
type stream struct {
	ctx      context.Context
	cfg      hearken.StreamConfig
	ear      *ear
	sched    *scheduler
	detector detector
	out      *stt.Outbox
	log      *slog.Logger
	mode     mode
	backlog  int    // utterances that may wait before Write does
	release  func() // gives the place back; called once

	// noted sees each utterance as it comes out, for measurements.
	noted func(*transcription)

	mu   sync.Mutex
	room sync.Cond // an utterance is done, or all is over
	err  error     // why no more sound is taken
	over bool

	origin int64 // position of the cutter's first window
	cutter *utterance.Cutter
	buffer utterance.Buffer[float32]
	filter highpass
	still  int // quiet windows in a row

	turn    int // counts segments, so that a late partial knows that it is late
	likely  *transcription
	pending []*transcription // ended, in order; their finals are still to come
	passage *transcription   // the last that ended
	said    int64            // up to here the transcript has an entry
	reached int64            // up to here all was said to be dealt with
	told    int64            // position at the last Progress
	closing bool

	partial  *task            // waits or runs
	nextShow int64            // position at which the next partial is due
	draft    []int32          // what the last partial heard
	held     *hearken.Segment // a partial that waits for an earlier final
}

func newStream(ctx context.Context, cfg hearken.StreamConfig, m mode, e *ear, sched *scheduler, d detector, release func()) *stream {
	s := &stream{
		ctx: ctx, cfg: cfg, mode: m, ear: e, sched: sched, detector: d, out: stt.NewOutbox(ctx), backlog: 3, release: release,
		log: slog.New(slog.DiscardHandler), said: cfg.Start, told: cfg.Start, reached: cfg.Start,
	}
	s.room.L = &s.mu
	s.begin(cfg.Start)
	context.AfterFunc(ctx, s.abandon)
	return s
}

// Write takes the next frame. It waits while more than a few segments of this
// stream are still to be decoded.
func (s *stream) Write(f hearken.Frame) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	if s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	pcm := f.PCM
	switch gap := f.Pos - s.buffer.End(); {
	case gap > 0:
		s.jump(f.Pos)
	case gap < 0: // heard before
		pcm = pcm[min(int64(len(pcm)), -gap):]
	}
	for len(pcm) > 0 {
		n := min(len(pcm), int(s.nextWindow()+window-s.buffer.End()))
		for _, x := range pcm[:n] {
			s.buffer.Append(s.filter.next(x))
		}
		pcm = pcm[n:]
		if err := s.listen(true); err != nil {
			return err
		}
	}
	return nil
}

// Events delivers what was heard.
func (s *stream) Events() <-chan hearken.StreamEvent { return s.out.Events() }

// Finalize ends what is being said where the sound ends. The part of a window
// that is still to be detected goes to the model with it, and is heard again
// with what follows: too little for a word.
func (s *stream) Finalize() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	end := s.buffer.End()
	if sp := s.cutter.End(); sp != nil {
		var rest int64
		if sp.Last == s.cutter.Seen() {
			rest = end - s.nextWindow()
		}
		s.end(sp, rest)
	} else {
		s.cutter.Discard()
	}
	if n := len(s.pending); n > 0 {
		s.pending[n-1].through = end
		return nil
	}
	s.upTo(end)
	s.tell()
	return nil
}

// Close says that no more sound comes.
func (s *stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil
	}
	end := s.buffer.End()
	s.flush()
	if s.err != nil {
		return nil
	}
	s.err, s.closing = errClosed, true
	s.buffer.Base, s.buffer.PCM = end, nil
	s.settle()
	return nil
}

func (s *stream) nextWindow() int64 { return s.position(s.cutter.Seen()) }

func (s *stream) position(windows int) int64 { return s.origin + int64(windows)*window }

// listen detects and cuts all whole windows on the tape, at the pace of the
// engine if asked to wait.
func (s *stream) listen(wait bool) error {
	for s.buffer.End()-s.nextWindow() >= window {
		for wait && len(s.pending) >= s.backlog && s.err == nil {
			s.room.Wait()
		}
		if s.err != nil {
			return s.err
		}
		at := s.nextWindow() - s.buffer.Base
		prob, rms, err := s.detect(s.buffer.PCM[at : at+window])
		if err != nil {
			s.fail(err)
			return s.err
		}
		s.act(s.cutter.Push(prob, math.Log10(float64(rms)+1e-5)))
	}
	return nil
}

func (s *stream) detect(pcm []float32) (prob, rms float32, err error) {
	rms, peak := level(pcm)
	if peak > quiet {
		s.still = 0
	} else if s.still++; s.still > settled {
		return 0, rms, nil
	}
	prob, err = s.detector.Feed(pcm)
	return prob, rms, err
}

// act does what a window's changes ask for.
func (s *stream) act(c utterance.Changes) {
	if s.over { // while the cutter waited for a guess
		return
	}
	if c.Began {
		s.draft, s.held = nil, nil
		s.nextShow = s.position(s.cutter.Onset()) + firstShow
		s.out.Put(hearken.StreamEvent{Kind: hearken.SpeechStarted, Time: stt.Seconds(s.position(s.cutter.Onset()))})
	}
	if c.Paused != nil {
		s.guess(c.Paused)
	}
	if c.Resumed {
		s.drop()
	}
	if c.Ended != nil {
		s.end(c.Ended, 0)
	}
	if s.cutter.Speaking() {
		s.show()
	}
	heard := s.nextWindow()
	if !s.cutter.Speaking() && len(s.pending) == 0 && heard-s.said >= stt.MaxSilence {
		s.silence(heard, s.through())
	}
	if heard-s.told >= progressEvery {
		s.tell()
	}
	s.buffer.Forget(s.needed())
}

// needed is the position of the first sound that may be decoded yet.
func (s *stream) needed() int64 {
	pos := s.position(s.cutter.Needed())
	// An utterance is known to have ended a pause later than it ends, and one
	// that was too long is cut further back.
	slack := 2*hearken.SampleRate + int64(s.mode.rules.CutWindow)*window
	if p := s.passage; p != nil && s.nextWindow()-p.passage <= s.ear.passage()+slack && pos-p.last <= maxPause {
		return min(pos, p.passage)
	}
	return pos
}

// jump goes on at a later position: sound was lost in between, so nothing that
// was being said goes on.
func (s *stream) jump(to int64) {
	s.flush()
	if s.err != nil {
		return
	}
	s.pending = append(s.pending, &transcription{gap: true, pos: to, done: true})
	s.passage = nil
	s.begin(to)
	s.detector.Reset()
	s.settle()
}

// begin listens from a position on as if nothing had been heard before.
func (s *stream) begin(pos int64) {
	s.origin, s.cutter, s.filter, s.still = pos, utterance.NewCutter(s.mode.rules), highpass{}, 0
	s.buffer = utterance.Buffer[float32]{Base: pos}
	if s.mode.live && s.mode.rules.Pause < utterance.Never {
		s.cutter.Complete = s.enough
	}
}

// flush ends what is being said where the sound ends. The last window is
// filled up with silence.
func (s *stream) flush() {
	s.cutter.Complete = nil // nothing comes to wait for
	end := s.buffer.End()
	if short := end - s.nextWindow(); short > 0 {
		s.buffer.Append(make([]float32, window-short)...)
		if s.listen(false) != nil {
			return
		}
	}
	if sp := s.cutter.End(); sp != nil {
		s.end(sp, 0)
	}
	for _, u := range s.pending {
		u.last, u.through = min(u.last, end), min(u.through, end)
	}
}

// through is the position before which all sound is dealt with.
func (s *stream) through() int64 {
	if len(s.pending) > 0 {
		return s.upTo(s.pending[0].pos)
	}
	return s.upTo(min(s.position(s.cutter.Needed()), s.buffer.End()))
}

// upTo notes that all sound before a position is dealt with. What was once
// said to be stays so, although the next segment may begin a little before it.
func (s *stream) upTo(pos int64) int64 {
	s.reached = max(s.reached, pos)
	return s.reached
}

// tell reports how far the stream has come and how far behind it is: how much
// was heard since the oldest segment ended whose words are still to come.
func (s *stream) tell() {
	s.told = s.nextWindow()
	e := hearken.StreamEvent{Kind: hearken.Progress, FinalUntil: s.through()}
	if len(s.pending) > 0 {
		e.Lag = max(0, stt.Seconds(s.told-s.pending[0].due))
	}
	s.out.Put(e)
}

// silence adds an entry for a stretch without speech that ends at end.
func (s *stream) silence(end, through int64) {
	s.out.Put(stt.Silence(s.said, end, s.upTo(through), s.cfg.Language))
	s.said = end
}

// watch fails the stream when the engine ends before it does.
func (s *stream) watch(engine context.Context) {
	stop := context.AfterFunc(engine, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.fail(errEnded())
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	release := s.release
	s.release = func() {
		stop()
		release()
	}
}

// fail ends the stream with an error.
func (s *stream) fail(err error) {
	if s.over {
		return
	}
	s.err = err
	if hearken.CodeOf(err) == "" {
		s.err = hearken.Errorf(hearken.ProviderConnectionFailed, "The offline engine failed: %w.", err)
	}
	s.out.Put(hearken.StreamEvent{Kind: hearken.Failed, Err: s.err})
	s.finish()
}

// panicked ends the stream because something in an inference did what it must
// not. What the panic says may hold text, so the log has its type alone.
func (s *stream) panicked(v any) {
	s.log.Error("inference panicked", "type", fmt.Sprintf("%T", v), "stack", string(debug.Stack()))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail(fmt.Errorf("inference panicked: %T", v))
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
	s.drop()
	if s.partial != nil {
		s.sched.withdraw(s.partial)
	}
	for _, u := range s.pending {
		if u.task != nil {
			s.sched.withdraw(u.task)
		}
	}
	s.pending, s.held = nil, nil
	s.room.Broadcast()
	s.out.Close()
	s.detector.Close()
	s.release()
}
