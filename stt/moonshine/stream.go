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

// A detector says how likely each window of one channel is speech. It
// remembers earlier windows, so each stream has its own.
type detector interface {
	Feed(frame []float32) (float32, error)
	Reset()
	Close()
}

const (
	// quiet is the peak below which a window holds nothing to detect: two
	// steps of the 16-bit scale, which dither and idle converters reach.
	quiet = 2.5 / 32768
	// quietEnough is how many quiet windows in a row the detector gets. It is
	// spared the rest.
	quietEnough = 16

	progressEvery = hearken.SampleRate
)

var errClosed = errors.New("stream is closed")

// A stream is one channel of one session. Audio is detected and cut where it
// is written. Workers of the scheduler decode it and deliver their results
// under the stream's lock.
type stream struct {
	ctx         context.Context
	cfg         hearken.StreamConfig
	transcriber *transcriber
	sched       *scheduler
	detector    detector
	out         *stt.Outbox
	log         *slog.Logger
	mode        mode
	maxPending  int    // utterances without a final before Write blocks
	release     func() // gives the reserved capacity back; called once

	// observe sees each utterance as it comes out, for measurements.
	observe func(*transcription)

	mu      sync.Mutex
	changed sync.Cond // an utterance is done, or all is over
	err     error     // why no more audio is taken
	over    bool

	origin       int64 // position of the cutter's first window
	cutter       *utterance.Cutter
	buffer       utterance.Buffer[float32]
	filter       highpass
	quietWindows int // in a row

	turn         int              // counts utterances, so that a late partial notices
	guess        *transcription   // of what has probably ended
	pending      []*transcription // ended, in order; their finals are still to come
	lastEnded    *transcription
	entriesUntil int64 // the transcript has entries up to here
	finalUntil   int64 // as it was last reported
	reportedAt   int64 // position at the last Progress
	closing      bool

	partial     *task            // waits or runs
	nextPartial int64            // position at which the next partial is due
	draft       []int32          // tokens of the last partial
	heldPartial *hearken.Segment // waits for an earlier final
}

func newStream(ctx context.Context, cfg hearken.StreamConfig, m mode, tr *transcriber, sched *scheduler, d detector, release func()) *stream {
	s := &stream{
		ctx: ctx, cfg: cfg, mode: m, transcriber: tr, sched: sched, detector: d, out: stt.NewOutbox(ctx), maxPending: 3, release: release,
		log: slog.New(slog.DiscardHandler), entriesUntil: cfg.Start, reportedAt: cfg.Start, finalUntil: cfg.Start,
	}
	s.changed.L = &s.mu
	s.restart(cfg.Start)
	context.AfterFunc(ctx, s.abandon)
	return s
}

// Write takes the next frame. It blocks while too many utterances of this
// stream wait to be decoded.
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
		s.skipTo(f.Pos)
	case gap < 0: // written before
		pcm = pcm[min(int64(len(pcm)), -gap):]
	}
	for len(pcm) > 0 {
		n := min(len(pcm), int(s.processedUntil()+window-s.buffer.End()))
		for _, x := range pcm[:n] {
			s.buffer.Append(s.filter.next(x))
		}
		pcm = pcm[n:]
		if err := s.processWindows(true); err != nil {
			return err
		}
	}
	return nil
}

// Events delivers the results.
func (s *stream) Events() <-chan hearken.StreamEvent { return s.out.Events() }

// Finalize ends the current utterance where the audio ends. The part of a
// window that was not detected yet is decoded with it, and once more with what
// follows: it is too short for a word.
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
			rest = end - s.processedUntil()
		}
		s.endUtterance(sp, rest)
	} else {
		s.cutter.Discard()
	}
	if n := len(s.pending); n > 0 {
		s.pending[n-1].finalUntil = end
		return nil
	}
	s.advanceFinal(end)
	s.reportProgress()
	return nil
}

// Close ends the audio.
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
	s.emitFinals()
	return nil
}

func (s *stream) processedUntil() int64 { return s.position(s.cutter.Seen()) }

func (s *stream) position(windows int) int64 { return s.origin + int64(windows)*window }

// processWindows detects and cuts all whole windows in the buffer. If wait is
// set, it blocks while too many utterances are pending.
func (s *stream) processWindows(wait bool) error {
	for s.buffer.End()-s.processedUntil() >= window {
		for wait && len(s.pending) >= s.maxPending && s.err == nil {
			s.changed.Wait()
		}
		if s.err != nil {
			return s.err
		}
		at := s.processedUntil() - s.buffer.Base
		prob, rms, err := s.detect(s.buffer.PCM[at : at+window])
		if err != nil {
			s.fail(err)
			return s.err
		}
		s.applyChanges(s.cutter.Push(prob, math.Log10(float64(rms)+1e-5)))
	}
	return nil
}

func (s *stream) detect(pcm []float32) (prob, rms float32, err error) {
	rms, peak := rmsAndPeak(pcm)
	if peak > quiet {
		s.quietWindows = 0
	} else if s.quietWindows++; s.quietWindows > quietEnough {
		return 0, rms, nil
	}
	prob, err = s.detector.Feed(pcm)
	return prob, rms, err
}

// applyChanges acts on what a window changed.
func (s *stream) applyChanges(c utterance.Changes) {
	if s.over { // while the cutter waited for a guess
		return
	}
	if c.Began {
		s.draft, s.heldPartial = nil, nil
		s.nextPartial = s.position(s.cutter.Onset()) + firstPartial
		s.out.Put(hearken.StreamEvent{Kind: hearken.SpeechStarted, Time: stt.Seconds(s.position(s.cutter.Onset()))})
	}
	if c.Paused != nil {
		s.startGuess(c.Paused)
	}
	if c.Resumed {
		s.dropGuess()
	}
	if c.Ended != nil {
		s.endUtterance(c.Ended, 0)
	}
	if s.cutter.Speaking() {
		s.schedulePartial()
	}
	now := s.processedUntil()
	if !s.cutter.Speaking() && len(s.pending) == 0 && now-s.entriesUntil >= stt.MaxSilence {
		s.emitSilence(now, s.finalPosition())
	}
	if now-s.reportedAt >= progressEvery {
		s.reportProgress()
	}
	s.buffer.Forget(s.neededFrom())
}

// neededFrom is the position of the first audio that may still be decoded.
func (s *stream) neededFrom() int64 {
	pos := s.position(s.cutter.Needed())
	// The end of an utterance is known only after the pause, and one that is
	// too long is cut further back.
	slack := 2*hearken.SampleRate + int64(s.mode.rules.CutWindow)*window
	if p := s.lastEnded; p != nil && s.processedUntil()-p.passage <= s.transcriber.maxPassage()+slack && pos-p.last <= maxPause {
		return min(pos, p.passage)
	}
	return pos
}

// skipTo continues at a later position. Audio was lost in between, so the
// current utterance ends.
func (s *stream) skipTo(to int64) {
	s.flush()
	if s.err != nil {
		return
	}
	s.pending = append(s.pending, &transcription{gap: true, pos: to, done: true})
	s.lastEnded = nil
	s.restart(to)
	s.detector.Reset()
	s.emitFinals()
}

// restart begins anew at a position, without any memory of earlier audio.
func (s *stream) restart(pos int64) {
	s.origin, s.cutter, s.filter, s.quietWindows = pos, utterance.NewCutter(s.mode.rules), highpass{}, 0
	s.buffer = utterance.Buffer[float32]{Base: pos}
	if s.mode.live && s.mode.rules.Pause < utterance.Never {
		s.cutter.Complete = s.isComplete
	}
}

// flush ends the current utterance where the audio ends. The last window is
// filled up with silence.
func (s *stream) flush() {
	s.cutter.Complete = nil // nothing more comes that could complete it
	end := s.buffer.End()
	if short := end - s.processedUntil(); short > 0 {
		s.buffer.Append(make([]float32, window-short)...)
		if s.processWindows(false) != nil {
			return
		}
	}
	if sp := s.cutter.End(); sp != nil {
		s.endUtterance(sp, 0)
	}
	for _, u := range s.pending {
		u.last, u.finalUntil = min(u.last, end), min(u.finalUntil, end)
	}
}

// finalPosition is the position before which all audio is done.
func (s *stream) finalPosition() int64 {
	if len(s.pending) > 0 {
		return s.advanceFinal(s.pending[0].pos)
	}
	return s.advanceFinal(min(s.position(s.cutter.Needed()), s.buffer.End()))
}

// advanceFinal notes that all audio before a position is done. It never goes back,
// although the next utterance may begin a little earlier.
func (s *stream) advanceFinal(pos int64) int64 {
	s.finalUntil = max(s.finalUntil, pos)
	return s.finalUntil
}

// reportProgress reports how far the stream has come and its lag: how much
// audio was written since the oldest pending utterance ended.
func (s *stream) reportProgress() {
	s.reportedAt = s.processedUntil()
	e := hearken.StreamEvent{Kind: hearken.Progress, FinalUntil: s.finalPosition()}
	if len(s.pending) > 0 {
		e.Lag = max(0, stt.Seconds(s.reportedAt-s.pending[0].due))
	}
	s.out.Put(e)
}

// emitSilence adds an entry for a stretch without speech that ends at end.
func (s *stream) emitSilence(end, through int64) {
	s.out.Put(stt.SilenceEvent(s.entriesUntil, end, s.advanceFinal(through), s.cfg.Language))
	s.entriesUntil = end
}

// failWithEngine makes the stream fail when the engine ends before it does.
func (s *stream) failWithEngine(engine context.Context) {
	stop := context.AfterFunc(engine, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.fail(errEngineEnded())
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	release := s.release
	s.release = func() {
		stop()
		release()
	}
}

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

// failAfterPanic ends the stream after an inference panicked. The panic's value may
// hold words that were said, so only its type is logged.
func (s *stream) failAfterPanic(v any) {
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

// finish releases everything. It is called once.
func (s *stream) finish() {
	s.over = true
	s.dropGuess()
	if s.partial != nil {
		s.sched.withdraw(s.partial)
	}
	for _, u := range s.pending {
		if u.task != nil {
			s.sched.withdraw(u.task)
		}
	}
	s.pending, s.heldPartial = nil, nil
	s.changed.Broadcast()
	s.out.Close()
	s.detector.Close()
	s.release()
}
