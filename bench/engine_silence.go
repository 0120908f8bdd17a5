package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/moonshine"
)

// silenceCommand makes this program listen to silence.
const silenceCommand = "engine-silence"

// measureSilence tells what a stream costs in which nobody speaks: processes
// that hear a lot of silence against ones that hear hardly any.
func measureSilence(ctx context.Context, b *bench) error {
	const little, much = 1, 601
	rounds := 3
	if b.quick {
		rounds = 2
	}
	for _, kind := range []string{"digital silence", "a quiet room"} {
		var costs []float64
		for range rounds {
			base, err := silenceCost(ctx, kind, little)
			if err != nil {
				return err
			}
			all, err := silenceCost(ctx, kind, much)
			if err != nil {
				return err
			}
			costs = append(costs, 1000*(all-base)/(much-little))
		}
		b.goal("processor time for each second of "+kind, "max", 6, 5, median(costs), "ms", spread(costs))
	}
	return nil
}

// silenceCost is the processor time of a process that hears so many seconds.
func silenceCost(ctx context.Context, kind string, seconds int) (float64, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, self, silenceCommand, kind, strconv.Itoa(seconds))
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("silence: %w", err)
	}
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), nil
}

// serveSilence streams silence as fast as it is taken.
func serveSilence(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("want a kind of silence and seconds, not %q", args)
	}
	seconds, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	frame := make([]int16, hearken.SampleRate/10)
	if args[0] != "digital silence" {
		frame = room(10)
	}
	p, err := openEngine(ctx, moonshine.Config{Model: "tiny"})
	if err != nil {
		return err
	}
	defer closeEngine(ctx, p)
	s, err := p.Open(ctx, hearken.StreamConfig{Language: "en", Interim: true})
	if err != nil {
		return err
	}
	go func() {
		defer hangUp(s)
		for pos := 0; pos < seconds*hearken.SampleRate; {
			n := min(hearken.SampleRate/10, len(frame))
			at := pos % len(frame)
			if s.Write(hearken.Frame{Pos: int64(pos), PCM: frame[at : at+n]}) != nil {
				return
			}
			pos += n
		}
	}()
	for e := range s.Events() {
		if e.Kind == hearken.Failed {
			return e.Err
		}
	}
	return nil
}
