package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/moonshine"
	"github.com/hearken-dev/hearken/test/speech"
)

const digitalSilence = "digital silence"

// benchSilence measures what a stream costs in which nobody speaks: processes
// that transcribe much silence against ones that transcribe hardly any.
func benchSilence(b *bench) {
	const little, much = 1, 601
	for _, kind := range []string{digitalSilence, "a quiet room"} {
		var costs []float64
		for range pick(b, 3, 2) {
			costs = append(costs, 1000*(silenceCost(b, kind, much)-silenceCost(b, kind, little))/(much-little))
		}
		b.report("processor time for each second of "+kind, atMost(6, 5), median(costs), "ms", spread(costs))
	}
}

// silenceCost is the processor time of a process that gets so many seconds.
func silenceCost(b *bench, kind string, seconds int) float64 {
	cmd := b.self("engine-silence", kind, strconv.Itoa(seconds))
	b.check(cmd.Run())
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
}

// streamSilence streams silence as fast as the engine takes it.
func streamSilence(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("want a kind of silence and seconds, not %q", args)
	}
	seconds, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	audio := make([]int16, seconds*hearken.SampleRate)
	if args[0] != digitalSilence {
		audio = slices.Repeat(speech.RoomNoise(10), seconds/10+1)[:len(audio)]
	}
	p, err := openEngine(ctx, moonshine.Config{Model: "tiny"})
	if err != nil {
		return err
	}
	defer closeEngine(p)
	_, err = stream(ctx, p, interimEnglish, audio, false)
	return err
}
