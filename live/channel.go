package live

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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
)

// A channel takes one channel of sound from its spool to the engine and what
// comes out to the session.
type channel struct {
	s      *session
	origin hearken.Origin
	spool  *spool
	wake   chan struct{} // there is sound, or a wish
	done   chan struct{} // closed when the channel has ended
	cancel context.CancelFunc

	finish  atomic.Bool  // no more sound will come
	settle  atomic.Int64 // the words before are wanted now; see Finalize
	fed     atomic.Int64 // the engine has taken everything before
	through atomic.Int64 // its words are final for everything before
	lag     atomic.Int64 // the engine's own, in samples

	mu    sync.Mutex
	state string // for the status
	skip  func() // abandons the open stream; nil if there is none
}

// The states of a channel's provider, as the status tells them.
const (
	stateIdle     = "idle"
	stateOpen     = "open"
	stateRetrying = "retrying"
	stateFailed   = "failed"
)

// addChannelLocked gives the session a channel that begins where its spool
// does, and sets it to work.
func (s *session) addChannelLocked(o hearken.Origin, sp *spool) {
	ctx, cancel := context.WithCancel(s.hub.ctx)
	c := &channel{
		s:      s,
		origin: o,
		spool:  sp,
		wake:   make(chan struct{}, 1),
		done:   make(chan struct{}),
		cancel: cancel,
		state:  stateIdle,
	}
	sp.mu.Lock()
	c.fed.Store(sp.start)
	c.through.Store(sp.start)
	sp.mu.Unlock()
	s.channels = append(s.channels, c)
	go c.run(ctx)
}

// nudge wakes the channel.
func (c *channel) nudge() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *channel) setState(state string, skip func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state, c.skip = state, skip
}

// restart abandons the open stream and everything it heard.
func (c *channel) restart() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.skip != nil {
		c.skip()
	}
}

// errAbandoned ends a stream that restart gave up.
var errAbandoned = errors.New("stream abandoned")

// run feeds the engine as long as there is sound, stream after stream.
func (c *channel) run(ctx context.Context) {
	defer close(c.done)
	defer c.cancel()
	failures := 0
	for c.waitForSound(ctx) {
		before := c.through.Load()
		err := c.stream(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil || errors.Is(err, errAbandoned):
			failures = 0
			continue
		case c.through.Load() > before:
			failures = 0
		}
		failures++
		c.setState(stateRetrying, nil)
		c.s.hub.cfg.Log.Warn("provider failed", "session", c.s.id, "provider", c.s.provider(), "failures", failures, "err", err)
		if !retryable(err) || failures > c.s.hub.cfg.Retries || !pause(ctx, max(backoff(failures), advice(err))) {
			c.giveUp(ctx, err)
			return
		}
	}
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
func (c *channel) stream(ctx context.Context) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	start := c.through.Load()
	if first := c.spool.first(); first > start {
		c.gap(start, first)
		start = first
	}
	c.fed.Store(start)
	st, err := c.s.hub.provider(c.s.provider()).Open(ctx, c.s.streamConfig(c.origin, start))
	if err != nil {
		c.fed.Store(c.through.Load())
		return err
	}
	c.setState(stateOpen, func() { cancel(errAbandoned) })
	heard := make(chan error, 1)
	go func() { heard <- c.listen(ctx, st) }()

	fed := c.feed(ctx, st, heard)
	if fed != nil && !errors.Is(fed, errEngineEnded) {
		cancel(fed)
	} else if fed == nil {
		st.Close()
	}
	err = <-heard
	if cause := context.Cause(ctx); errors.Is(cause, errAbandoned) {
		return errAbandoned
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
	return nil
}

// errEngineEnded is why feeding stopped when the engine's events ended first.
var errEngineEnded = errors.New("the engine ended the stream")

// feed writes sound to the engine until there has been none for a while or no
// more will come (nil), or until something breaks.
func (c *channel) feed(ctx context.Context, st hearken.Stream, heard chan error) error {
	buf := make([]int16, frameSamples)
	for {
		pos := c.fed.Load()
		n, at, err := c.spool.read(pos, buf)
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
			continue
		}
		if at > pos {
			continue
		}
		if c.finish.Load() {
			return nil
		}
		if wanted := c.settle.Swap(0); wanted > c.through.Load() {
			f, ok := st.(hearken.Finalizer)
			if !ok {
				return nil // closing it is the only way to its words
			}
			if err := f.Finalize(); err != nil {
				return err
			}
		}
		idle := time.NewTimer(flushAfter)
		select {
		case <-c.wake:
		case <-idle.C:
			return nil
		case err := <-heard:
			heard <- err // for stream, which reports it
			idle.Stop()
			return errEngineEnded
		case <-ctx.Done():
			idle.Stop()
			return context.Cause(ctx)
		}
		idle.Stop()
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
	c.s.note(seconds(from), seconds(to), "[gap: %.1f s of sound were lost]", seconds(to-from))
	c.dealtWith(to)
}

// dealtWith says that everything before pos is final.
func (c *channel) dealtWith(pos int64) {
	for {
		old := c.through.Load()
		if pos <= old {
			return
		}
		if c.through.CompareAndSwap(old, pos) {
			c.spool.trim(pos)
			return
		}
	}
}

// giveUp ends the session for want of an engine.
func (c *channel) giveUp(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	c.setState(stateFailed, nil)
	from, to := c.through.Load(), c.spool.end()
	c.s.note(seconds(from), seconds(to), "[provider %s failed; %.1f s of sound were not transcribed]", c.s.provider(), seconds(to-from))
	c.s.tell(hearken.InputEvent{Kind: hearken.InputError, Err: err})
	c.s.hub.finish(c.s, hearken.StopProviderFailed)
}

// retryable tells whether opening the same engine again could help.
func retryable(err error) bool {
	switch hearken.CodeOf(err) {
	case hearken.APIKeyMissing, hearken.ProviderNotConfigured, hearken.Unauthorized, hearken.Forbidden:
		return false
	}
	return true
}

// backoff is 1 s, 2 s, 4 s and so on, give or take a fifth.
func backoff(failures int) time.Duration {
	d := time.Second << min(failures-1, 5)
	return d + time.Duration((rand.Float64()-0.5)*0.4*float64(d))
}

// advice is how long a provider asks to be left alone, within reason.
func advice(err error) time.Duration {
	var asks interface{ RetryAfter() time.Duration }
	if !errors.As(err, &asks) {
		return 0
	}
	return min(asks.RetryAfter(), time.Minute)
}

// pause waits and tells whether it could.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
