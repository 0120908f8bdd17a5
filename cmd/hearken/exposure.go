package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	"github.com/hearken-dev/hearken/api"
)

// scribeTimeout is how long ParrotScribe may take to say whether it captures.
const scribeTimeout = 2 * time.Second

// openExposure opens the record of who has read transcripts. A hub that carries
// out no actions keeps it too, for the next one.
func (a *App) openExposure(ctx context.Context) (err error) {
	minutes := func(n float64) time.Duration {
		if n == 0 {
			return -1 // not at all; 0 would be the default
		}
		return time.Duration(n * float64(time.Minute))
	}
	earlier, err := earlierAudio(ctx, a.store)
	if err != nil {
		return err
	}
	a.exposure, err = act.OpenExposure(ctx, act.ExposureConfig{
		Store: a.store, LastAudio: func() time.Time {
			if last := a.lastAudio(); last.After(earlier) {
				return last
			}
			return earlier
		},
		AfterAudio: minutes(a.cfg.GrantsAfterAudioMinutes), AfterReading: minutes(a.cfg.GrantsAfterReadingMinutes),
		Log: a.log, Now: a.now,
	})
	a.readyExposure.Store(a.exposure)
	return err
}

// recentSessions is how many sessions are looked at for the last audio.
const recentSessions = 100

// earlierAudio returns when the last session with live audio was stopped. A short
// one may be in no other record if the hub ended right after it.
func earlierAudio(ctx context.Context, store hearken.Store) (last time.Time, err error) {
	sessions, err := store.Sessions(ctx, hearken.SessionFilter{Status: hearken.Stopped, Limit: recentSessions})
	if err != nil {
		return last, fmt.Errorf("find the last session: %w", err)
	}
	for i := range sessions {
		if at := sessions[i].StoppedAt; at != nil && at.After(last) && !sessions[i].Config.Recorded {
			last = *at
		}
	}
	return last, nil
}

// audioInterval is how often the hub records that people can be heard.
const audioInterval = 15 * time.Second

// watchAudio records until ctx ends when people could be heard, and once more at
// the end. A hub that carries out no actions does so too: another one with the
// same store may.
func (a *App) watchAudio(ctx context.Context) {
	tick := time.NewTicker(audioInterval)
	defer tick.Stop()
	for {
		a.exposure.CheckAudio()
		select {
		case <-tick.C:
		case <-ctx.Done():
			a.exposure.CheckAudio()
			return
		}
	}
}

// lastAudio returns when audio was last transcribed, by the hub or by
// ParrotScribe.
func (a *App) lastAudio() time.Time {
	last := a.hub.LastAudio()
	if a.parrotScribe == nil {
		return last
	}
	if at := a.parrotScribe.lastAudio(); at.After(last) {
		return at
	}
	return last
}

// A captureProbe finds out whether ParrotScribe captures. It asks at most every
// few seconds, because each question runs a program.
type captureProbe struct {
	scribe hearken.Scribe
	now    func() time.Time

	mu      sync.Mutex
	asked   time.Time
	running time.Time // when it was last known to capture
}

// probeEvery is how often a captureProbe asks.
const probeEvery = 5 * time.Second

// lastAudio returns when ParrotScribe last captured. If it does not say, it
// counts as capturing.
func (c *captureProbe) lastAudio() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if age := now.Sub(c.asked); age >= 0 && age < probeEvery && !c.asked.IsZero() {
		return c.running
	}
	ctx, cancel := context.WithTimeout(context.Background(), scribeTimeout)
	defer cancel()
	st, err := c.scribe.Status(ctx)
	switch code := hearken.CodeOf(err); {
	case err == nil && (st.Running || st.Unclear):
		c.running = now
	case err != nil && code != hearken.NotFound && code != hearken.Invalid && code != hearken.Forbidden: // the program can run
		c.running = now
	}
	c.asked = now
	return c.running
}

// countReading counts a request whose answer has transcript text as reading, for
// as long as it lasts. Without a caller it gets no text: it may show a ticket
// later, as Twilio does, and then only sends. If it counted, anybody who can
// connect could suspend everybody's grants.
func (a *App) countReading(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if caller := api.CallerFrom(r.Context()); caller != nil {
			defer a.exposure.StartReading(caller.Principal)()
		}
		next.ServeHTTP(w, r)
	})
}

// scribeWithoutText are the scribe commands whose results have no transcript
// text.
var scribeWithoutText = []string{"start", "stop", "new", "status", "meter"}

// countControl counts a request on the local socket as reading if its result has
// transcript text: entries of a capture, the title of a call, or the words behind
// an action. Commands make these requests, and so may any agent that has a shell.
func (a *App) countControl(req controlRequest, result []byte) {
	var hasText bool
	switch req.Op {
	case "scribe":
		hasText = req.Scribe != nil && !slices.Contains(scribeWithoutText, req.Scribe.Do)
	case "actions.call":
		hasText = true
	default: // inside of a JSON string these quotes would have a backslash
		hasText = bytes.Contains(result, []byte(`"quote":"`))
	}
	if hasText {
		a.exposure.Read(act.Local)
	}
}
