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
		if err := h.wait(ctx, forever, func() bool { return after-h.through <= h.cfg.Ahead.Seconds() }); err != nil {
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

// settle waits until nearly all words are final. An engine that says nothing
// for as long as the rest of the recording takes has nothing to say about it.
func (h *hearing) settle(ctx context.Context) error {
	h.mu.Lock()
	rest := max(0, h.seconds()-h.through)
	for _, g := range h.gaps { // what was passed over may still come
		rest += g.EndTime - g.StartTime
	}
	h.mu.Unlock()
	if rest <= near {
		return nil
	}
	if h.in.Finalize() != nil {
		return h.await(ctx)
	}
	return h.wait(ctx, time.Duration(rest*float64(time.Second)), func() bool {
		return h.seconds()-h.through <= near && len(h.gaps) == 0
	})
}

// wait returns nil once ready, which is called with the lock held, is true, or
// when the hub has said nothing for so long.
func (h *hearing) wait(ctx context.Context, quiet time.Duration, ready func() bool) error {
	var timer *time.Timer
	for {
		h.mu.Lock()
		ok := ready()
		h.mu.Unlock()
		if ok {
			return ctx.Err()
		}
		if timer == nil {
			timer = time.NewTimer(quiet)
			defer timer.Stop()
		}
		select {
		case <-h.told:
			timer.Reset(quiet)
		case <-timer.C:
			return nil
		case <-h.over:
			return h.verdict()
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
