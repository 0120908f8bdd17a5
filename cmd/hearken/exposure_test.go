//go:build !windows

package main

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
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

// Whoever reads transcripts by a command on the local socket has read them, too.
func TestExposure_LocalSocket(t *testing.T) {
	for do, reads := range map[string]bool{"status": false, "sessions": false, "tail": true, "cat": true, "grep": true} {
		t.Run(do, func(t *testing.T) {
			app := openApp(t, testConfig(t), Options{Capture: silentCapture})
			call := scribeCall{Do: do, Tail: &hearken.TailRequest{}, Cat: &hearken.CatRequest{}, Grep: &hearken.GrepRequest{Pattern: "x"}}
			_, _ = app.handleControl(t.Context(), controlRequest{Op: "scribe", Scribe: &call}) // there may be nothing to read
			if why, err := app.queue.WhyGrantsAreOff(t.Context(), act.Local); err != nil || (why != "") != reads {
				t.Errorf("%q, %v", why, err)
			}
		})
	}
}
