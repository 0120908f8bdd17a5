package main

import (
	"context"
	"path/filepath"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	"github.com/hearken-dev/hearken/scribe"
	"github.com/hearken-dev/hearken/source/mic"
	"github.com/hearken-dev/hearken/source/pscribe"
)

// handoverName is the file by which a hub leaves its capture to the next one.
const handoverName = "capture.json"

// openScribe chooses who hears this computer's sound.
func (a *App) openScribe(capture func(context.Context) (hearken.Capture, error)) {
	c := a.cfg
	if c.ScribeBackend != "native" && capture == nil {
		_, err := pscribe.Find(c.PscribePath)
		if err == nil || c.ScribeBackend == "pscribe" { // without it, each call says what is missing
			a.scribe = pscribe.New(pscribe.Config{Path: c.PscribePath, Log: a.log})
			if c.ScribeKeep {
				k := scribe.Record(a.scribe, scribe.RecorderConfig{Store: a.hub, Principal: act.Local, Log: a.log})
				a.scribe, a.endScribe = k, k.Close
			}
			return
		}
	}
	if capture == nil {
		capture = func(ctx context.Context) (hearken.Capture, error) {
			m, err := mic.Open(ctx, mic.Config{Microphone: c.Microphone, System: c.SystemAudio, Log: a.log})
			if err != nil {
				return nil, err
			}
			return m, nil
		}
	}
	s := scribe.New(scribe.Config{
		Hub: a.hub, Capture: capture, Principal: act.Local, Handover: filepath.Join(c.DataDir, handoverName), Now: a.now, Log: a.log,
	})
	a.scribe, a.endScribe = s, s.Close
	// A hub that a person starts in its place goes on with its capture.
	if yield := a.yield; yield != nil {
		a.yield = func() {
			s.HandOver()
			yield()
		}
	}
	s.Resume()
}
