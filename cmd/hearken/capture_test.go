package main

import (
	"context"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/stttest"
)

// offlineEngine keeps all audio on this computer.
type offlineEngine struct{ *stttest.Scripted }

func (offlineEngine) Capabilities() hearken.Capabilities { return hearken.Capabilities{Offline: true} }

// silentCapture captures silence, which the tests' engine turns into words.
func silentCapture(context.Context) (hearken.Capture, error) { return silence{}, nil }

type silence struct{}

func (silence) Run(ctx context.Context, deliver func(channels ...[]int16) error) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	frame := make([]int16, hearken.SampleRate/50)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if err := deliver(frame, frame); err != nil {
				return err
			}
		}
	}
}

func (silence) Notes() []string   { return []string{"Microphone: silence."} }
func (silence) Levels() []float64 { return []float64{0, 0} }
