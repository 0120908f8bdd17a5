package upload

import (
	"context"
	"math"
	"strings"
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
	rest := h.seconds() - h.through
	h.mu.Unlock()
	if rest <= near {
		return nil
	}
	if h.in.Finalize() != nil {
		return h.await(ctx)
	}
	return h.wait(ctx, time.Duration(rest*float64(time.Second)), func() bool { return h.seconds()-h.through <= near })
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

// listen takes what the hub tells until there is no more.
func (h *hearing) listen() {
	defer close(h.over)
	for ev := range h.in.Events() {
		if h.note(ev) {
			signal(h.news)
		}
		signal(h.told)
	}
}

// signal wakes whoever waits, now or later.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// note remembers an event and tells whether it brought words.
func (h *hearing) note(ev hearken.InputEvent) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch ev.Kind {
	case hearken.InputFinal:
		return h.noteFinal(ev.Segment)
	case hearken.InputProgress:
		h.through = max(h.through, ev.Seconds)
	case hearken.InputDropped:
		h.dropped = true
	case hearken.InputError:
		h.cause = ev.Err
	case hearken.InputReplaced, hearken.InputClosed:
		h.end = ev
	}
	return false
}

// slack forgives engines that place a word a little early.
const slack = 0.1

func (h *hearing) noteFinal(s *hearken.Segment) bool {
	if s.Origin == hearken.Happening {
		if strings.HasPrefix(s.Text, "[gap") {
			h.gaps = append(h.gaps, *s)
		}
		return false
	}
	h.through = max(h.through, s.EndTime)
	// A gap may be filled later.
	for i, g := range h.gaps {
		if s.StartTime < g.EndTime && s.EndTime > g.StartTime+slack {
			h.gaps = append(h.gaps[:i:i], h.gaps[i+1:]...)
			break
		}
	}
	wanted := hearken.Confirmed
	if h.request.Translate {
		wanted = hearken.Translated
	}
	if s.Status == hearken.Confirmed && s.Spoken() {
		h.confirmed++
	}
	if s.Status != wanted || !s.Spoken() {
		return false
	}
	h.segments = append(h.segments, *s)
	return true
}

// verdict says whether the words are complete, once nothing more will come.
func (h *hearing) verdict() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	reason := h.end.Reason
	switch {
	case h.end.Kind == hearken.InputReplaced:
		return h.stopped("another sender took over its session")
	case reason == hearken.StopProviderFailed:
		return h.engineFailed()
	case reason == hearken.StopShutdown:
		return unavailable("shutdown", "The hub is shutting down. Try: the same request again in a moment")
	case reason == "":
		return unavailable("incomplete", "The hub let go of session %s before it had all words. Try: the same request again", h.id)
	case !h.complete:
		return h.stopped("its session ended: " + reason)
	case h.dropped || len(h.gaps) > 0:
		return unavailable("incomplete", "Some of the recording was not transcribed. What was is in session %s. Try: the same request again when the hub is less busy", h.id)
	case h.request.Translate && h.confirmed > 0 && len(h.segments) == 0:
		return unavailable("not_translated", "The engine gave no translation. The words as they were said are in session %s.", h.id)
	}
	return nil
}

// stopped is a recording that somebody stopped, on purpose.
func (h *hearing) stopped(why string) *failure {
	f := unavailable("stopped", "The recording was not heard to its end: %s. What was heard of it is in session %s.", why, h.id)
	f.status, f.after, f.settled = 409, 0, true
	return f
}

// engineFailed says why an engine failed, as far as that is for people.
func (h *hearing) engineFailed() *failure {
	why, try := "the engine failed", "the same request again, or another engine as the model"
	f := unavailable(string(hearken.ProviderConnectionFailed), "")
	if code := hearken.CodeOf(h.cause); code != "" {
		f.code, why, try = string(code), h.cause.Error(), ""
		switch code {
		case hearken.APIKeyMissing, hearken.ProviderNotConfigured, hearken.Unauthorized, hearken.Forbidden:
			f.settled, f.after = true, 0
		}
	}
	f.message = "The recording could not be transcribed: " + strings.TrimSuffix(why, ".") + ". What was heard of it is in session " + h.id + "."
	if try != "" {
		f.message += " Try: " + try
	}
	return f
}
