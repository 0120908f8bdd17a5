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

// handoverName is the file in which a hub leaves its capture to the next one.
const handoverName = "capture.json"

// openScribe opens what captures this computer's audio.
func (a *App) openScribe() {
	c, capture := a.cfg, a.opts.Capture
	if c.ScribeBackend != "native" && capture == nil {
		_, err := pscribe.Find(c.PscribePath)
		if err == nil || c.ScribeBackend == "pscribe" { // if it is missing, each call says so
			a.scribe = pscribe.New(pscribe.Config{Path: c.PscribePath, Log: a.log})
			a.parrotScribe = &captureProbe{scribe: a.scribe, now: a.now}
			if c.ScribeKeep {
				r := scribe.Record(a.scribe, scribe.RecorderConfig{Store: a.hub, Principal: act.Local, Log: a.log})
				a.scribe, a.closeScribe = r, r.Close
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
		Hearing: a.hearing,
	})
	a.scribe, a.closeScribe = s, s.Close
	// A hub that a person starts instead continues the capture.
	if stop := a.handOver; stop != nil {
		a.handOver = func() {
			s.HandOver()
			stop()
		}
	}
	s.Resume()
}
