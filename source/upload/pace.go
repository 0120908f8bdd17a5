package upload

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/hearken-dev/hearken"
)

const (
	// near is how many seconds may be left when the session is told to finish:
	// from then on the hub waits only so long for the last words.
	near    = 1.0
	forever = time.Duration(math.MaxInt64)
)

// send gives sound to the hub, never further ahead of the engine than allowed:
// what the hub cannot hold for it is lost.
func (h *hearing) send(ctx context.Context, pcm []int16) error {
	for len(pcm) > 0 {
		n := min(len(pcm), chunk)
		after := float64(h.sent+int64(n)) / hearken.SampleRate
		room := func() (bool, time.Duration) { return after-h.through <= h.cfg.Ahead.Seconds(), forever }
		if err := h.wait(ctx, room); err != nil {
			return err
		}
		if h.in.Write(pcm[:n]) != nil {
			return h.await(ctx) // the session is ending, and will say why
		}
		h.sent += int64(n)
		pcm = pcm[n:]
	}
	return nil
}

// settle waits until nearly all words are final.
func (h *hearing) settle(ctx context.Context) error {
	h.mu.Lock()
	settled, _ := h.settledLocked()
	h.mu.Unlock()
	if settled {
		return nil
	}
	if h.in.Finalize() != nil {
		return h.await(ctx)
	}
	return h.wait(ctx, h.settledLocked)
}

// settledLocked tells whether nearly all words are final, and how long that is
// worth waiting for without news: an engine that says nothing for as long as
// the rest of the recording takes has nothing to say about it. One that says
// so much that some of it got lost is quick.
func (h *hearing) settledLocked() (settled bool, patience time.Duration) {
	rest := max(0, h.seconds()-h.through)
	settled = rest <= near && len(h.gaps) == 0
	for _, g := range h.gaps { // what was passed over may still come
		rest += g.EndTime - g.StartTime
	}
	if h.crowded {
		rest = min(rest, 2)
	}
	return settled, time.Duration(rest * float64(time.Second))
}

// wait returns nil once ready, which is called with the lock held, says so, or
// when the hub has said nothing for as long as it has patience.
func (h *hearing) wait(ctx context.Context, ready func() (bool, time.Duration)) error {
	var timer *time.Timer
	for {
		h.mu.Lock()
		ok, patience := ready()
		h.mu.Unlock()
		if ok {
			return ctx.Err()
		}
		if timer == nil {
			timer = time.NewTimer(patience)
			defer timer.Stop()
		} else {
			timer.Reset(patience)
		}
		select {
		case <-h.told:
		case <-timer.C:
			return nil
		case <-h.over:
			return h.await(ctx)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// await waits for the end of the session and says whether it is a good one.
func (h *hearing) await(ctx context.Context) error {
	select {
	case <-h.over:
		if err := h.recover(ctx); err != nil {
			return fmt.Errorf("read session: %w", err)
		}
		return h.verdict()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// leave ends the session, if it has not ended, and waits for the last word
// from the hub.
func (h *hearing) leave() {
	if h.in == nil {
		return
	}
	if !h.finished {
		_ = h.in.Finish() // it may have ended by itself
	}
	h.in.Detach()
	<-h.over
}
