package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/moonshine"
)

// pause is the quiet between recordings on a tape, in seconds: longer than what
// the engine takes for a pause within one thought.
const pause = 2.2

// measureLive streams the English recordings in real time and holds the words
// against those that the same model finds when it is given each file whole.
func measureLive(ctx context.Context, b *bench) error {
	clips, err := referenced()
	if err != nil {
		return err
	}
	if b.quick {
		clips = first(clips, 60)
	}
	for _, m := range []struct {
		name, model, whole string
		streams            int // well below what the machine carries
	}{
		{"tiny with base finals", "", "base-en", 7},
		{"tiny", "tiny", "tiny-en", 10},
	} {
		texts, err := hearLive(ctx, m.model, deal(clips, m.streams, pause))
		if err != nil {
			return err
		}
		transcribe, stop, err := openModel(ctx, m.whole)
		if err != nil {
			return err
		}
		var live, whole []score
		for _, c := range clips {
			text, err := transcribe(c.pcm)
			if err != nil {
				stop()
				return err
			}
			live = append(live, scoreOf(c.Reference, texts[c]))
			whole = append(whole, scoreOf(c.Reference, text))
		}
		stop()
		low, high := bootstrap(live, whole)
		b.goal("live in real time, "+m.name+", word errors beyond those of whole files", "max", 1, 0.5, percent(live)-percent(whole), "points",
			fmt.Sprintf("95 %% of bootstraps from %.2f to %.2f; live %.2f %%, whole files %.2f %%; %d recordings", low, high, percent(live), percent(whole), len(clips)))
	}
	return nil
}

func hearLive(ctx context.Context, model string, tapes []*tape) (map[*clip]string, error) {
	p, err := openEngine(ctx, moonshine.Config{Model: model, MaxStreams: len(tapes)})
	if err != nil {
		return nil, err
	}
	defer closeEngine(ctx, p)
	sounds := make([][]int16, len(tapes))
	for i, t := range tapes {
		sounds[i] = t.pcm
	}
	all, err := speakAll(ctx, p, sounds)
	if err != nil {
		return nil, err
	}
	texts := map[*clip]string{}
	for i, h := range all {
		maps.Copy(texts, tapes[i].texts(h.segments()))
	}
	return texts, nil
}

// bootstrap is the interval that holds the difference of the error rates in 95
// of 100 draws of as many recordings.
func bootstrap(a, b []score) (low, high float64) {
	rng := rand.New(rand.NewPCG(7, 8))
	const draws = 4000
	differences := make([]float64, draws)
	for i := range differences {
		var as, bs []score
		for range a {
			n := rng.IntN(len(a))
			as, bs = append(as, a[n]), append(bs, b[n])
		}
		differences[i] = percent(as) - percent(bs)
	}
	slices.Sort(differences)
	return differences[draws*25/1000], differences[draws*975/1000]
}

// measureDelay times one live stream: the words that come while somebody
// speaks, and those that come for good when they have stopped.
func measureDelay(ctx context.Context, b *bench) error {
	clips, err := referenced()
	if err != nil {
		return err
	}
	seconds := 140.0
	if b.quick {
		seconds = 40
	}
	clips = slices.DeleteFunc(clips, func(c *clip) bool { return c.seconds() > 12 }) // those have no more ends than shorter ones
	t := splice(first(clips, seconds), pause)
	p, err := openEngine(ctx, moonshine.Config{})
	if err != nil {
		return err
	}
	defer closeEngine(ctx, p)
	h, err := speakTo(ctx, p, t.pcm)
	if err != nil {
		return err
	}
	onsets, ends, err := t.edges()
	if err != nil {
		return err
	}
	var firsts, lasts sample
	for _, pos := range onsets {
		if d, ok := h.shown(pos); ok {
			firsts = append(firsts, d)
		}
	}
	for _, pos := range ends {
		if d, ok := h.confirmed(pos); ok {
			lasts = append(lasts, d)
		}
	}
	of := func(s sample, all int) string {
		return fmt.Sprintf("%d of %d, lowest %.0f ms, highest %.0f ms", len(s), all, ms(s.at(0)), ms(s.at(1)))
	}
	const name = "one live stream, tiny with base finals, "
	b.goal(name+"end of speech to confirmed segment, p50", "max", 600, 450, ms(lasts.at(0.5)), "ms", of(lasts, len(ends)))
	b.goal(name+"end of speech to confirmed segment, p95", "max", 1000, 800, ms(lasts.at(0.95)), "ms", "hangover included; ends are told by level, 30 dB below loud, and voice detection")
	b.goal(name+"onset of speech to its first unconfirmed word, p50", "max", 900, 700, ms(firsts.at(0.5)), "ms", of(firsts, len(onsets)))
	return nil
}

// position is a place in the sound as the time at which it was spoken.
func position(pos int) time.Duration { return time.Duration(pos) * time.Second / hearken.SampleRate }

// shown is how long after an onset the first text of it came.
func (h *heard) shown(onset int) (time.Duration, bool) {
	at := float64(onset) / hearken.SampleRate
	for _, e := range h.events {
		text := e.Kind == hearken.Partial && e.Segment.Text != "" || e.Kind == hearken.Final && e.Segment.Spoken()
		if text && e.Segment.EndTime > at && e.Segment.StartTime > at-1 {
			return e.at - position(onset), e.Segment.StartTime < at+1
		}
	}
	return 0, false
}

// confirmed is how long after an end of speech its last segment was confirmed.
func (h *heard) confirmed(end int) (took time.Duration, ok bool) {
	at := float64(end) / hearken.SampleRate
	for _, e := range h.events {
		if e.Kind == hearken.Final && e.Segment.Text != "" && e.Segment.StartTime < at {
			took, ok = e.at-position(end), e.Segment.EndTime > at-1.5
		}
	}
	return took, ok
}
