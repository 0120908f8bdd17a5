package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/moonshine"
)

// What many live streams must not fall behind.
const (
	mostLag  = time.Second             // in 99 of 100 reports
	mostWait = 1250 * time.Millisecond // between one text and the next, on average: the engine sheds unconfirmed text first
)

// measureStreams finds how many streams that speak all the time the machine
// carries, with the speakers on the same machine.
func measureStreams(ctx context.Context, b *bench) error {
	clips, err := recordings(func(c *clip) bool { return c.Language == "en" && c.Kind == "read" })
	if err != nil {
		return err
	}
	var speech []int16
	for _, c := range clips {
		speech = append(speech, c.pcm...)
	}
	seconds := 20.0
	if b.quick {
		seconds = 12
	}
	for _, m := range []struct {
		name, model string
		must, aim   int
	}{
		{"tiny", "tiny", 12, 14},
		{"tiny with base finals", "", 8, 10},
	} {
		p, err := openEngine(ctx, moonshine.Config{Model: m.model, MaxStreams: 200})
		if err != nil {
			return err
		}
		c, err := climb(ctx, m.aim, func(n int) (*carried, error) { return carry(ctx, p, speech, n, seconds) })
		closeEngine(ctx, p)
		if err != nil {
			return err
		}
		b.goal("live streams that speak all the time, "+m.name, "min", float64(m.must), float64(m.aim), float64(c.streams), "", c.String())
	}
	return nil
}

// climb tries numbers from the one that is aimed for until one is carried and
// the next is not, below the aim to the stream and above it to two. It returns
// how the best one fared.
func climb(ctx context.Context, aim int, try func(n int) (*carried, error)) (*carried, error) {
	best, refused := &carried{}, 0
	for n := aim; n > best.streams; {
		c, err := try(n)
		if err := errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
		if c.ok() {
			best = c
		} else {
			refused = n
		}
		switch {
		case refused == 0:
			n += 4
		case best.streams == 0:
			n = max(n-2, min(1, n-1))
		case best.streams >= aim && refused-best.streams <= 2:
			return best, nil
		default:
			n = (best.streams + refused) / 2
		}
	}
	return best, nil
}

// carried is how so many streams fared.
type carried struct {
	streams int
	lags    sample        // as the engine reports them
	late    sample        // how late it took sound
	renewal time.Duration // from one text to the next, on average
}

func (c *carried) ok() bool {
	return max(c.lags.at(0.99), c.late.at(0.99)) < mostLag && c.renewal < mostWait
}

func (c *carried) String() string {
	return fmt.Sprintf("lag p99 %.0f ms, p50 %.0f ms; sound taken p99 %.0f ms late; new text every %.2f s",
		ms(c.lags.at(0.99)), ms(c.lags.at(0.5)), ms(c.late.at(0.99)), c.renewal.Seconds())
}

// carry lets so many streams speak, each from another place of the speech.
func carry(ctx context.Context, p hearken.Provider, speech []int16, n int, seconds float64) (*carried, error) {
	c := &carried{streams: n}
	tapes := make([][]int16, n)
	for i := range tapes {
		from := (len(speech) - samples(seconds)) / n * i
		tapes[i] = speech[from : from+samples(seconds)]
	}
	all, err := speakAll(ctx, p, tapes)
	if err != nil {
		return nil, err
	}
	texts := 0
	for _, h := range all {
		c.late = append(c.late, h.late...)
		for _, e := range h.events {
			switch {
			case e.Kind == hearken.Progress:
				c.lags = append(c.lags, time.Duration(e.Lag*float64(time.Second)))
			case e.Kind == hearken.Partial, e.Kind == hearken.Final && e.Segment.Spoken():
				texts++
			}
		}
	}
	c.renewal = time.Duration(float64(n) * seconds * float64(time.Second) / float64(max(texts, 1)))
	fmt.Fprintf(os.Stderr, "    %d streams: %s\n", n, c)
	return c, nil
}
