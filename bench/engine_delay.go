package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/moonshine"
	"github.com/hearken-dev/hearken/test/speech"
)

// benchDelay times one live stream: unconfirmed words while somebody speaks,
// and confirmed ones after they have stopped.
func benchDelay(b *bench) {
	t := speech.Splice(speech.First(shortClips(b), pick(b, 140.0, 40)), pause)
	r, err := stream(b.ctx, b.engine(moonshine.Config{}), interimEnglish, t.PCM, true)
	b.check(err)
	onsets, ends := speechEdges(b, t)
	var firsts, lasts durations
	for _, pos := range onsets {
		if d, ok := r.shownAfter(pos); ok {
			firsts = append(firsts, d)
		}
	}
	for _, pos := range ends {
		if d, ok := r.confirmedAfter(pos); ok {
			lasts = append(lasts, d)
		}
	}
	of := func(d durations, all int) string {
		return fmt.Sprintf("%d of %d, lowest %.0f ms, highest %.0f ms", len(d), all, d.ms(0), d.ms(1))
	}
	const name = "one live stream, tiny with base finals, "
	b.report(name+"end of speech to confirmed segment, p50", atMost(600, 450), lasts.ms(0.5), "ms", of(lasts, len(ends)))
	b.report(name+"end of speech to confirmed segment, p95", atMost(1000, 800), lasts.ms(0.95), "ms", "hangover included; the end of speech is found by level, 30 dB below loud, and voice detection")
	b.report(name+"onset of speech to its first unconfirmed word, p50", atMost(900, 700), firsts.ms(0.5), "ms", of(firsts, len(onsets)))
}

// shortClips are the English clips of at most 12 s. Longer ones have no more
// ends of speech.
func shortClips(b *bench) []*speech.Clip {
	return slices.DeleteFunc(speech.English(b), func(c *speech.Clip) bool { return c.Seconds() > 12 })
}

// shownAfter is how long after an onset of speech its first text came.
func (r *recording) shownAfter(onset int) (time.Duration, bool) {
	at := float64(onset) / hearken.SampleRate
	for _, e := range r.events {
		text := e.Kind == hearken.Partial && e.Segment.Text != "" || e.Kind == hearken.Final && e.Segment.Spoken()
		if text && e.Segment.EndTime > at && e.Segment.StartTime > at-1 {
			return e.at - position(onset), e.Segment.StartTime < at+1
		}
	}
	return 0, false
}

// confirmedAfter is how long after an end of speech its last segment was
// confirmed.
func (r *recording) confirmedAfter(end int) (took time.Duration, ok bool) {
	at := float64(end) / hearken.SampleRate
	for _, e := range r.events {
		if e.Kind == hearken.Final && e.Segment.Text != "" && e.Segment.StartTime < at {
			took, ok = e.at-position(end), e.Segment.EndTime > at-1.5
		}
	}
	return took, ok
}
