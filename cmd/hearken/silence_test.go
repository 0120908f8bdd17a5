package main

import (
	"context"
	"time"

	"github.com/hearken-dev/hearken"
)

// silence is the sound of a computer in tests; its engine hears words in it.
func silence(context.Context) (hearken.Capture, error) { return silent{}, nil }

type silent struct{}

func (silent) Run(ctx context.Context, deliver func(channels ...[]int16) error) error {
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

func (silent) Notes() []string   { return []string{"Microphone: silence."} }
func (silent) Levels() []float64 { return []float64{0, 0} }
