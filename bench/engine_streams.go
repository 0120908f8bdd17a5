package main

import (
	"fmt"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/moonshine"
	"github.com/hearken-dev/hearken/test/speech"
)

// How far many live streams may fall behind.
const (
	maxLag = time.Second // in 99 of 100 reports
	// maxRenewal is the average time between two texts. The engine drops
	// unconfirmed text first.
	maxRenewal = 1250 * time.Millisecond
)

// benchStreams finds how many streams of constant speech the machine carries,
// with the speakers on the same machine.
func benchStreams(b *bench) {
	var talk []int16
	for _, c := range speech.Select(b, func(c *speech.Clip) bool { return c.Language == "en" && c.Kind == "read" }) {
		talk = append(talk, c.PCM()...)
	}
	seconds := pick(b, 20.0, 12)
	for _, m := range []struct {
		name, model string
		must, aim   int
	}{
		{"tiny", "tiny", 12, 14},
		{"tiny with base finals", "", 8, 10},
	} {
		p, err := openEngine(b.ctx, moonshine.Config{Model: m.model, MaxStreams: 200})
		b.check(err)
		best := findCapacity(m.aim, func(n int) *streamLoad { return loadStreams(b, p, talk, n, seconds) })
		closeEngine(p)
		b.report("live streams that speak all the time, "+m.name, atLeast(float64(m.must), float64(m.aim)), float64(best.streams), "", best.String())
	}
}

// findCapacity tries numbers, beginning with the aim, until one is carried and
// the next is not: below the aim exactly, above it to within two. It returns
// the best load that was carried.
func findCapacity(aim int, try func(n int) *streamLoad) *streamLoad {
	best, refused := &streamLoad{}, 0
	for n := aim; n > best.streams; {
		if l := try(n); l.carried() {
			best = l
		} else {
			refused = n
		}
		switch {
		case refused == 0:
			n += 4
		case best.streams == 0:
			n = max(n-2, min(1, n-1))
		case best.streams >= aim && refused-best.streams <= 2:
			return best
		default:
			n = (best.streams + refused) / 2
		}
	}
	return best
}

// A streamLoad is how so many streams fared.
type streamLoad struct {
	streams int
	lags    durations     // as the engine reports them
	late    durations     // how late it took audio
	renewal time.Duration // from one text to the next, on average
}

func (l *streamLoad) carried() bool {
	return max(l.lags.at(0.99), l.late.at(0.99)) < maxLag && l.renewal < maxRenewal
}

func (l *streamLoad) String() string {
	return fmt.Sprintf("lag p99 %.0f ms, p50 %.0f ms; audio taken p99 %.0f ms late; new text every %.2f s",
		l.lags.ms(0.99), l.lags.ms(0.5), l.late.ms(0.99), l.renewal.Seconds())
}

// loadStreams lets so many streams speak, each from another position.
func loadStreams(b *bench, p hearken.Provider, talk []int16, n int, seconds float64) *streamLoad {
	l := &streamLoad{streams: n}
	audio := make([][]int16, n)
	for i := range audio {
		from := (len(talk) - speech.Samples(seconds)) / n * i
		audio[i] = talk[from : from+speech.Samples(seconds)]
	}
	texts := 0
	for _, r := range streamAll(b, p, audio) {
		l.late = append(l.late, r.late...)
		for _, e := range r.events {
			switch {
			case e.Kind == hearken.Progress:
				l.lags = append(l.lags, time.Duration(e.Lag*float64(time.Second)))
			case e.Kind == hearken.Partial, e.Kind == hearken.Final && e.Segment.Spoken():
				texts++
			}
		}
	}
	l.renewal = time.Duration(float64(n) * seconds * float64(time.Second) / float64(max(texts, 1)))
	b.Logf("%d streams: %s", n, l)
	return l
}
