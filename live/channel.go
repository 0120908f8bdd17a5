package live

import (
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
	// frameSamples is how much sound an engine gets at a time.
	frameSamples = hearken.SampleRate / 10
	// flushAfter is how long a channel may be without sound before its engine
	// is asked for what it still holds: a sender that falls silent in the
	// middle of a word must not keep it from the readers.
	flushAfter = 2 * time.Second
	// breakOff is the same where the sound ends in the middle of speech: the
	// sender's network has a hiccup, more likely than not.
	breakOff = 10 * time.Second
	// closeAfter is how long after that its stream stays open: one that is
	// opened anew does not know the speakers any more.
	closeAfter = time.Minute
	// replayLead is how much of what was settled a new stream hears again if
	// there was no word in it: the one before may not yet have noticed one that
	// had just begun.
	replayLead = hearken.SampleRate / 2
	// livedLong is how long a stream must have lived to be no failure to begin,
	// though it may have settled nothing: some utterances are long.
	livedLong = 5 * time.Second
	// lastWords is how long an engine that failed may take to say what it knew.
	lastWords = time.Second
)

// A channel takes one channel of sound from its spool to the engine and what
// comes out to the session.
type channel struct {
	s      *session
	origin hearken.Origin
	spool  *spool
	limit  int64         // where its sound ends, if it pays a debt
	debt   *debt         // nil for the channel of the sender
	wake   chan struct{} // there is sound, or a wish
	done   chan struct{} // closed when the channel has ended
	ctx    context.Context
	cancel context.CancelFunc

	// Of whoever runs the streams, one after the other.
	floor     int64    // nothing before is heard again: its words are confirmed
	confirmed float64  // the channel's entries go up to here
	lost      bool     // the last stream failed
	missing   int64    // samples that were gone before an engine could have them
	speakers  speakers // of the open stream

	finish  atomic.Bool  // no more sound will come
	late    atomic.Bool  // the engine is behind and does not catch up
	wanted  atomic.Int64 // the words before are wanted now; see Finalize
	fed     atomic.Int64 // the engine has taken everything before
	through atomic.Int64 // its words are final for everything before
	lag     atomic.Int64 // the engine's own, in samples

	mu      sync.Mutex
	state   string      // for the status
	skip    func(error) // ends the open stream; nil if there is none
	pulse   pulse
	rollBy  time.Time // a new stream is wanted until then; zero if none is
	expires time.Time // the open stream should end; zero if it may go on
}

// The states of a channel's provider, as the status tells them.
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
	c.through.Store(start)
	return c
}

// addChannelLocked gives the session a channel and sets it to work. There are
// no words between floor and start.
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

func (c *channel) setState(state string, skip func(error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state, c.skip = state, skip
	c.rollBy, c.expires = time.Time{}, time.Time{}
}

// restart abandons the open stream and everything it heard.
func (c *channel) restart() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.skip != nil {
		c.skip(errAbandoned)
	}
}

// run feeds the engine as long as there is sound, stream after stream.
func (c *channel) run(ctx context.Context) {
	defer close(c.done)
	defer c.cancel()
	failures := 0
	var since time.Time // of the first of them
	for c.waitForSound(ctx) {
		before := c.through.Load()
		engine := c.s.current()
		opened := time.Now()
		err := c.stream(ctx, engine)
		c.lost = err != nil && !errors.Is(err, errAbandoned)
		switch {
		case ctx.Err() != nil:
			return
		case !c.lost:
			failures = 0
			continue
		case c.through.Load() > before, time.Since(opened) >= livedLong:
			failures = 0
		}
		if failures++; failures == 1 {
			since = time.Now()
		}
		c.setState(stateRetrying, nil)
		c.s.hub.cfg.Log.Warn("provider failed", "session", c.s.id, "provider", engine, "failures", failures, "err", err)
		if c.worthRetrying(err, failures, since) {
			if !pause(ctx, max(backoff(failures), advice(err))) {
				return
			}
			continue
		}
		if !c.s.failOver(ctx, engine, seconds(c.through.Load()), err) {
			c.giveUp(ctx, engine, err)
			return
		}
		failures = 0
		c.forgive()
	}
}

// forgive lets another engine begin with a clean sheet.
func (c *channel) forgive() {
	c.late.Store(false)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pulse = pulse{}
}

// waitForSound returns true once there is sound that was not yet fed, and
// false when none will come.
func (c *channel) waitForSound(ctx context.Context) bool {
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

// stream opens the engine where its words are not yet final and feeds it until
// there is nothing more, or it fails.
func (c *channel) stream(ctx context.Context, engine string) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p := c.s.hub.provider(engine)
	if p == nil {
		return noProvider(engine, c.s.hub.providerNames())
	}
	start := c.unheard()
	if c.debt == nil {
		start = max(start, c.s.forgottenThrough())
	}
	if first := c.spool.first(); first > start {
		if through := c.through.Load(); first > through {
			c.gap(through, first)
		}
		start = min(first, c.limit)
	}
	c.fed.Store(start)
	cfg := c.s.streamConfig(engine, c.origin, start)
	if c.debt != nil {
		cfg.Recorded, cfg.Interim = true, false
	}
	st, err := p.Open(ctx, cfg)
	if err == nil && c.debt == nil {
		start = c.jump(p, start)
		c.fed.Store(start)
	}
	if err != nil {
		c.fed.Store(c.through.Load())
		return err
	}
	c.setState(stateOpen, cancel)
	if l, ok := p.(hearken.Limited); ok {
		c.expireIn(l.MaxStream())
	}
	c.speakers = speakers{}
	heard := make(chan error, 1)
	go func() { heard <- c.listen(ctx, st) }()

	fed := c.feed(ctx, st, heard)
	if fed == nil {
		fed = st.Close()
	}
	if fed != nil && !errors.Is(fed, errEngineEnded) {
		// What it said before it failed is still to be taken; then it ends by
		// itself, or is made to.
		last := time.AfterFunc(lastWords, func() { cancel(fed) })
		defer last.Stop()
	}
	err = <-heard
	if ctx.Err() != nil { // what is not final by now was never said
		c.fed.Store(c.through.Load())
		return context.Cause(ctx)
	}
	if err == nil && fed != nil {
		err = fed
	}
	if err != nil {
		c.fed.Store(c.through.Load()) // replay what is not final
		return err
	}
	// Everything was fed and flushed: what is not final by now held no words.
	c.dealtWith(c.fed.Load())
	c.tellProgress()
	return nil
}

// unheard is where a new stream begins to listen.
func (c *channel) unheard() int64 { return max(c.floor, c.through.Load()-replayLead) }

// errEngineEnded is why feeding stopped when the engine's events ended first.
var errEngineEnded = errors.New("the engine ended the stream")

// feed writes sound to the engine until there has been none for a while or no
// more will come (nil), or until something breaks.
func (c *channel) feed(ctx context.Context, st hearken.Stream, heard chan error) error {
	buf := make([]int16, frameSamples)
	asked := false // the engine was asked for what it holds
	wait := flushAfter
	idle := time.NewTimer(wait) // one for all frames
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
		if c.debt != nil {
			c.gap(pos, c.limit) // there is no more of it
			return nil
		}
		if c.finish.Load() {
			return nil
		}
		if wanted := c.wanted.Swap(0); wanted > c.through.Load() {
			f, ok := st.(hearken.Finalizer)
			if !ok {
				return nil // closing it is the only way to its words
			}
			if err := f.Finalize(); err != nil {
				return err
			}
		}
		idle.Reset(wait)
		select {
		case <-c.wake:
		case <-idle.C:
			f, ok := st.(hearken.Finalizer)
			switch {
			case wait == flushAfter && !c.quiet(pos):
				wait = breakOff - flushAfter
			case !ok || asked:
				return nil
			default:
				if err := f.Finalize(); err != nil {
					return err
				}
				asked, wait = true, closeAfter
			}
		case err := <-heard:
			heard <- err // for stream, which reports it
			return errEngineEnded
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// write gives the engine a frame. One that panics has failed, and takes neither
// the hub nor the other sessions with it.
func (c *channel) write(st hearken.Stream, f hearken.Frame) (err error) {
	defer func() {
		if v := recover(); v != nil {
			// The value may hold what somebody said; the stack does not.
			c.s.hub.cfg.Log.Error("engine panicked", "session", c.s.id, "type", fmt.Sprintf("%T", v), "stack", string(debug.Stack()))
			err = errors.New("the engine panicked")
		}
	}()
	return st.Write(f)
}

// gap notes that sound was lost before the engine could have it.
func (c *channel) gap(from, to int64) {
	if to = min(to, c.limit); to <= from {
		return
	}
	c.missing += to - from
	c.s.note(hearken.EventGap, seconds(from), seconds(to), "[gap: %.1f s of audio was lost]", seconds(to-from))
	c.dealtWith(to)
	c.tellProgress()
}

// dealtWith says that everything before pos is final.
func (c *channel) dealtWith(pos int64) {
	for {
		old := c.through.Load()
		if pos <= old {
			return
		}
		if c.through.CompareAndSwap(old, pos) {
			c.s.trim(c)
			return
		}
	}
}
