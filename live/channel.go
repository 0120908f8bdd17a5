package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hearken-dev/hearken"
)

const (
	// frameSamples is how much audio an engine gets at a time.
	frameSamples = hearken.SampleRate / 10
	// flushAfter is how long a channel may be without audio before its engine
	// is asked for the words it still holds. Readers get the last words of a
	// sender that stops in mid-sentence.
	flushAfter = 2 * time.Second
	// interruptedAfter replaces flushAfter if the audio broke off during
	// speech, which is probably a network problem of the sender.
	interruptedAfter = 10 * time.Second
	// closeAfter is how long the stream then stays open. A new stream would no
	// longer know the speakers.
	closeAfter = time.Minute
	// replayLead is how much final audio without words a new stream gets again.
	// The old stream may have missed a word that had just begun.
	replayLead = hearken.SampleRate / 2
	// startedAfter is how long a stream must live to count as started, even if
	// nothing became final: some utterances are long.
	startedAfter = 5 * time.Second
	// lastWordsTimeout is how long an engine that failed may still deliver
	// words.
	lastWordsTimeout = time.Second
)

// A channel feeds one side's audio from its spool to the engine and passes the
// results to the session.
type channel struct {
	s       *session
	origin  hearken.Origin
	spool   *spool
	limit   int64         // where a backlog channel's audio ends
	backlog *backlogSpan  // what it transcribes; nil for live audio
	wake    chan struct{} // there is audio or a request
	done    chan struct{} // closed when the channel has ended
	ctx     context.Context
	cancel  context.CancelFunc

	// Used only by the goroutine that runs the streams.
	floor     int64    // words before this are confirmed; never replayed
	confirmed float64  // end of the channel's last entry
	failed    bool     // the last stream failed
	missing   int64    // samples that were lost before an engine got them
	speakers  speakers // of the open stream

	finish       atomic.Bool  // no more audio will come
	late         atomic.Bool  // the engine is behind and does not catch up
	finalizeUpTo atomic.Int64 // Finalize asked for the words before this
	fed          atomic.Int64 // the engine got everything before this
	finalUntil   atomic.Int64 // the words before this are final
	lag          atomic.Int64 // the engine's own lag, in samples

	mu           sync.Mutex
	state        string      // for the status
	abandon      func(error) // ends the open stream; nil if there is none
	progressMark progressMark
	rollOverBy   time.Time // a new stream must replace it by then; zero if not
	expires      time.Time // when the open stream should be replaced; zero for never
}

// channelOrigins are the origins of a session's first and second channel.
var channelOrigins = []hearken.Origin{hearken.Microphone, hearken.System}

// The states of a channel's provider in [Status].
const (
	stateIdle     = "idle"
	stateOpen     = "open"
	stateRetrying = "retrying"
	stateFailed   = "failed"
)

// newChannel makes a channel whose words are final up to start.
func (s *session) newChannel(ctx context.Context, o hearken.Origin, sp *spool, start int64) *channel {
	c := &channel{
		s:         s,
		origin:    o,
		spool:     sp,
		limit:     math.MaxInt64,
		wake:      make(chan struct{}, 1),
		done:      make(chan struct{}),
		floor:     start,
		confirmed: seconds(start),
		state:     stateIdle,
	}
	c.ctx, c.cancel = context.WithCancel(ctx)
	c.fed.Store(start)
	c.finalUntil.Store(start)
	return c
}

// addChannelLocked adds a channel and starts it. There are no words between
// floor and start.
func (s *session) addChannelLocked(o hearken.Origin, sp *spool, start, floor int64) {
	c := s.newChannel(s.hub.ctx, o, sp, start)
	c.floor = floor
	s.channels = append(s.channels, c)
	go c.run(c.ctx)
}

// nudge wakes the channel.
func (c *channel) nudge() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *channel) setState(state string, abandon func(error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state, c.abandon = state, abandon
	c.rollOverBy, c.expires = time.Time{}, time.Time{}
}

// abandonStream ends the open stream and discards its results.
func (c *channel) abandonStream() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.abandon != nil {
		c.abandon(errAbandoned)
	}
}

// run feeds the engine while there is audio, one stream after the other.
func (c *channel) run(ctx context.Context) {
	defer close(c.done)
	defer c.cancel()
	failures := 0
	var since time.Time // of the first of them
	for c.waitForAudio(ctx) {
		before := c.finalUntil.Load()
		engine := c.s.currentEngine()
		opened := time.Now()
		err := c.stream(ctx, engine)
		c.failed = err != nil && !errors.Is(err, errAbandoned)
		switch {
		case ctx.Err() != nil:
			return
		case !c.failed:
			failures = 0
			continue
		case c.finalUntil.Load() > before, time.Since(opened) >= startedAfter:
			failures = 0
		}
		if failures++; failures == 1 {
			since = time.Now()
		}
		c.setState(stateRetrying, nil)
		c.s.hub.cfg.Log.Warn("provider failed", "session", c.s.id, "provider", engine, "failures", failures, "err", err)
		if c.worthRetrying(err, failures, since) {
			if !pause(ctx, max(backoff(failures), retryAfter(err))) {
				return
			}
			continue
		}
		if !c.s.failOver(ctx, engine, seconds(c.finalUntil.Load()), err) {
			c.giveUp(ctx, engine, err)
			return
		}
		failures = 0
		c.resetProgress()
	}
}

// resetProgress gives the next engine a fresh start.
func (c *channel) resetProgress() {
	c.late.Store(false)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.progressMark = progressMark{}
}

// waitForAudio returns true once there is audio that was not fed yet, and false
// if none will come.
func (c *channel) waitForAudio(ctx context.Context) bool {
	c.setState(stateIdle, nil)
	for ctx.Err() == nil {
		if c.spool.end() > c.fed.Load() {
			return true
		}
		if c.finish.Load() {
			return false
		}
		select {
		case <-c.wake:
		case <-ctx.Done():
		}
	}
	return false
}

// stream opens the engine at the first position that is not final, and feeds it
// until the audio ends or the engine fails.
func (c *channel) stream(ctx context.Context, engine string) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p := c.s.hub.provider(engine)
	if p == nil {
		return c.s.hub.noProvider(engine)
	}
	start := c.replayFrom()
	if c.backlog == nil {
		start = max(start, c.s.forgottenUntil())
	}
	if first := c.spool.first(); first > start {
		if finalUntil := c.finalUntil.Load(); first > finalUntil {
			c.gap(finalUntil, first)
		}
		start = min(first, c.limit)
	}
	c.fed.Store(start)
	cfg := c.s.streamConfig(engine, c.origin, start)
	if c.backlog != nil {
		cfg.Recorded, cfg.Interim = true, false
	}
	st, err := p.Open(ctx, cfg)
	if err != nil {
		c.fed.Store(c.finalUntil.Load())
		return err
	}
	if c.backlog == nil {
		c.fed.Store(c.skipAhead(p, start))
	}
	c.setState(stateOpen, cancel)
	can := p.Capabilities()
	c.expireIn(can.MaxStream)
	c.speakers = speakers{}
	engineDone := make(chan error, 1)
	go func() { engineDone <- c.handleEvents(ctx, st) }()

	fed := c.feed(ctx, st, can.Finalize, engineDone)
	if fed == nil {
		fed = st.Close()
	}
	if fed != nil && !errors.Is(fed, errEngineEnded) {
		// Take what it said before it failed. It then ends, or is made to.
		last := time.AfterFunc(lastWordsTimeout, func() { cancel(fed) })
		defer last.Stop()
	}
	err = <-engineDone
	if ctx.Err() != nil { // discard what is not final
		c.fed.Store(c.finalUntil.Load())
		return context.Cause(ctx)
	}
	if err = cmp.Or(err, fed); err != nil {
		c.fed.Store(c.finalUntil.Load()) // replay what is not final
		return err
	}
	// Everything was fed and flushed: what is not final held no words.
	c.advanceFinal(c.fed.Load())
	c.notifyProgress()
	return nil
}

// replayFrom is the position at which a new stream starts.
func (c *channel) replayFrom() int64 { return max(c.floor, c.finalUntil.Load()-replayLead) }

// errEngineEnded ends feeding if the engine's events ended first.
var errEngineEnded = errors.New("the engine ended the stream")

// feed writes audio to the engine. It returns nil when there was none for a
// while or no more will come.
func (c *channel) feed(ctx context.Context, st hearken.Stream, canFinalize bool, engineDone chan error) error {
	buf := make([]int16, frameSamples)
	asked := false // the engine was asked for its words
	wait := flushAfter
	idle := time.NewTimer(wait) // shared by all frames
	defer idle.Stop()
	for {
		pos := c.fed.Load()
		if pos >= c.limit {
			return nil
		}
		n, at, err := c.spool.read(pos, buf[:min(int64(len(buf)), c.limit-pos)])
		if err != nil {
			return err
		}
		if at > pos {
			c.gap(pos, at)
			c.fed.Store(at)
		}
		if n > 0 {
			if err := c.write(st, hearken.Frame{Pos: at, PCM: buf[:n]}); err != nil {
				return err
			}
			c.fed.Store(at + int64(n))
			c.spool.fed(at + int64(n))
			asked, wait = false, flushAfter
			continue
		}
		if at > pos {
			continue
		}
		if c.backlog != nil {
			c.gap(pos, c.limit) // the rest is lost
			return nil
		}
		if c.finish.Load() {
			return nil
		}
		if wanted := c.finalizeUpTo.Swap(0); wanted > c.finalUntil.Load() {
			if !canFinalize {
				return nil // only closing makes it deliver its words
			}
			if err := st.Finalize(); err != nil {
				return err
			}
		}
		idle.Reset(wait)
		select {
		case <-c.wake:
		case <-idle.C:
			switch {
			case wait == flushAfter && !c.endsInSilence(pos):
				wait = interruptedAfter - flushAfter
			case !canFinalize || asked:
				return nil
			default:
				if err := st.Finalize(); err != nil {
					return err
				}
				asked, wait = true, closeAfter
			}
		case err := <-engineDone:
			engineDone <- err // stream reads it
			return errEngineEnded
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// write gives the engine a frame. An engine that panics has failed; the hub and
// the other sessions continue.
func (c *channel) write(st hearken.Stream, f hearken.Frame) (err error) {
	defer func() {
		if v := recover(); v != nil {
			// The value may hold transcript text; the stack does not.
			c.s.hub.cfg.Log.Error("engine panicked", "session", c.s.id, "type", fmt.Sprintf("%T", v), "stack", string(debug.Stack()))
			err = errors.New("the engine panicked")
		}
	}()
	return st.Write(f)
}

// gap records that audio was lost before the engine got it.
func (c *channel) gap(from, to int64) {
	if to = min(to, c.limit); to <= from {
		return
	}
	c.missing += to - from
	c.s.addEvent(hearken.EventGap, seconds(from), seconds(to), "[gap: %.1f s of audio was lost]", seconds(to-from))
	c.advanceFinal(to)
	c.notifyProgress()
}

// advanceFinal records that everything before pos is final.
func (c *channel) advanceFinal(pos int64) {
	for {
		old := c.finalUntil.Load()
		if pos <= old {
			return
		}
		if c.finalUntil.CompareAndSwap(old, pos) {
			c.s.trimSpool(c)
			return
		}
	}
}
