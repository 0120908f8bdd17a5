package upload

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/hearken-dev/hearken"
)

const (
	// nearEnd is how many seconds may be left when the session is finished.
	// From then on the hub waits only a limited time for the last words.
	nearEnd = 1.0
	forever = time.Duration(math.MaxInt64)
)

// send gives audio to the hub, but never too far ahead of the engine: the hub
// would have to drop it.
func (j *job) send(ctx context.Context, pcm []int16) error {
	for len(pcm) > 0 {
		n := min(len(pcm), chunkSamples)
		after := float64(j.sent+int64(n)) / hearken.SampleRate
		fits := func() (bool, time.Duration) { return after-j.finalUntil <= j.cfg.Ahead.Seconds(), forever }
		if err := j.waitUntil(ctx, fits); err != nil {
			return err
		}
		if j.in.Write(pcm[:n]) != nil {
			return j.waitForEnd(ctx) // the session is ending, and will say why
		}
		j.sent += int64(n)
		pcm = pcm[n:]
	}
	return nil
}

// waitForWords waits until nearly all words are final.
func (j *job) waitForWords(ctx context.Context) error {
	j.mu.Lock()
	final, _ := j.nearlyFinalLocked()
	j.mu.Unlock()
	if final {
		return nil
	}
	if j.in.Finalize() != nil {
		return j.waitForEnd(ctx)
	}
	return j.waitUntil(ctx, j.nearlyFinalLocked)
}

// nearlyFinalLocked reports whether nearly all words are final, and how long to
// wait for the next event. An engine that is silent for as long as the rest of
// the recording takes has nothing to say about it. If events were lost, the
// engine is fast and the wait is short.
func (j *job) nearlyFinalLocked() (final bool, patience time.Duration) {
	rest := max(0, j.seconds()-j.finalUntil)
	final = rest <= nearEnd && len(j.gaps) == 0
	for _, g := range j.gaps { // it may still be transcribed later
		rest += g.EndTime - g.StartTime
	}
	if j.mayHaveMissed {
		rest = min(rest, 2)
	}
	return final, time.Duration(rest * float64(time.Second))
}

// waitUntil waits until ready returns true, or until the hub is silent for the
// time that ready returns. It calls ready with the lock held.
func (j *job) waitUntil(ctx context.Context, ready func() (bool, time.Duration)) error {
	var timer *time.Timer
	for {
		j.mu.Lock()
		ok, patience := ready()
		j.mu.Unlock()
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
		case <-j.activity:
		case <-timer.C:
			return nil
		case <-j.eventsDone:
			return j.waitForEnd(ctx)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// waitForEnd waits for the end of the session and returns an error if the words
// are not complete.
func (j *job) waitForEnd(ctx context.Context) error {
	select {
	case <-j.eventsDone:
		if err := j.readMissed(ctx); err != nil {
			return fmt.Errorf("read session: %w", err)
		}
		return j.checkComplete()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// close ends the session, if it has not ended, and waits for its last event.
func (j *job) close() {
	if j.in == nil {
		return
	}
	if !j.finished {
		_ = j.in.Finish() // it may have ended already
	}
	j.in.Detach()
	<-j.eventsDone
}
