//go:build !windows

package main

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	"github.com/hearken-dev/hearken/pipe"
)

// A hub that was started anew knows of the audio of sessions that had just
// stopped. Transcribed files are no live audio.
func TestExposure_EarlierSession(t *testing.T) {
	app := openApp(t, testConfig(t), Options{Brief: true})
	stopped := time.Now().Add(-2 * time.Minute)
	for _, recorded := range []bool{true, false} {
		if err := app.store.Save(t.Context(), &hearken.Session{
			ID: uuid.NewString(), Status: hearken.Stopped, StartedAt: stopped.Add(-10 * time.Second), StoppedAt: &stopped,
			Config: hearken.SessionConfig{Recorded: recorded},
		}, nil); err != nil {
			t.Fatal(err)
		}
		if err := app.openExposure(t.Context()); err != nil { // as the next hub does
			t.Fatal(err)
		}
		if err := app.ensureActions(t.Context()); err != nil {
			t.Fatal(err)
		}
		why, err := app.queue.WhyGrantsAreOff(t.Context(), act.Local)
		if err != nil || (why == "") != recorded {
			t.Errorf("recorded %v: %q, %v", recorded, why, err)
		}
		if err := app.closeActions(t.Context()); err != nil {
			t.Fatal(err)
		}
		app.queue = nil
	}
}

// What an action quotes is transcript text, too.
func TestExposure_Quotes(t *testing.T) {
	for _, op := range []string{"actions.list", "actions.get", "actions.why"} {
		for _, quote := range []string{"", "on Friday"} {
			app := openApp(t, testConfig(t), Options{})
			a := &hearken.Action{
				ID: hearken.NewActionID(hearken.MessageSend), Tool: hearken.MessageSend, Principal: "key_x", State: hearken.ActionDone,
				Message: &hearken.Message{}, CreatedAt: time.Now(), Evidence: []hearken.Evidence{{Arg: "text", Quote: quote}},
			}
			if _, err := app.store.SaveAction(t.Context(), a); err != nil {
				t.Fatal(err)
			}
			if err := overSocket(t, app, controlRequest{Op: op, ID: a.ID, Actions: &hearken.ActionFilter{}}); err != nil {
				t.Fatal(err)
			}
			if why, err := app.queue.WhyGrantsAreOff(t.Context(), act.Local); err != nil || (why != "") != (quote != "") {
				t.Errorf("%s of a quote %q: %q, %v", op, quote, why, err)
			}
		}
	}
}

// overSocket sends a request as a command does.
func overSocket(t *testing.T, app *App, req controlRequest) error {
	t.Helper()
	conn, err := app.connect(t.Context(), pipe.Hello{Want: pipe.WantControl})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, err = sendControl[json.RawMessage](t.Context(), conn, req)
	return err
}

// A scribeStatus is a scribe that only has a status.
type scribeStatus struct {
	hearken.Scribe
	running, unclear bool
	err              error
	asked            int
}

func (s *scribeStatus) Status(context.Context) (*hearken.ScribeStatus, error) {
	s.asked++
	return &hearken.ScribeStatus{Running: s.running, Unclear: s.unclear}, s.err
}

// While ParrotScribe captures, or does not say, people can be heard.
func TestCaptureProbe(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	scribe := &scribeStatus{}
	probe := &captureProbe{scribe: scribe, now: func() time.Time { return now }}
	for i, tt := range []struct {
		running bool
		err     error
		later   time.Duration
		ago     time.Duration // since the last audio; negative if there was none
		asked   int
	}{
		{false, nil, 0, -1, 1},
		{true, nil, time.Second, -1, 1}, // not asked again so soon
		{true, nil, probeEvery, 0, 2},
		{false, nil, probeEvery, probeEvery, 3},
		{false, errors.New("killed"), probeEvery, 0, 4},
		{false, hearken.Errorf(hearken.NotFound, "There is no pscribe."), probeEvery, probeEvery, 5},
	} {
		now = now.Add(tt.later)
		scribe.running, scribe.err = tt.running, tt.err
		last := probe.lastAudio()
		if tt.ago < 0 != last.IsZero() || tt.ago >= 0 && now.Sub(last) != tt.ago || scribe.asked != tt.asked {
			t.Errorf("%d: %v ago, asked %d times", i, now.Sub(last), scribe.asked)
		}
	}
	now = now.Add(probeEvery)
	scribe.unclear, scribe.err = true, nil
	if last := probe.lastAudio(); !last.Equal(now) {
		t.Errorf("unclear: %v ago", now.Sub(last))
	}
}

// Deleting a session right after its audio hides it from no later hub.
func TestExposure_DeletedSession(t *testing.T) {
	app := openApp(t, testConfig(t), Options{})
	s, err := app.hub.Start(t.Context(), hearken.StartRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if err := app.hub.Delete(t.Context(), s.ID); err != nil {
		t.Fatal(err)
	}
	saved, err := app.store.Exposures(t.Context())
	if err != nil || len(saved) != 1 {
		t.Errorf("recorded: %v, %v", saved, err)
	}
}
