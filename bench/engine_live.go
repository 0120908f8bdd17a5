package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/hearken-dev/hearken/stt/moonshine"
	"github.com/hearken-dev/hearken/test/speech"
	"github.com/hearken-dev/hearken/test/wer"
)

// pause is the quiet between recordings on a tape, in seconds: longer than what
// the engine takes for a pause within an utterance.
const pause = 2.2

// benchLive streams the English recordings in real time and compares the words
// with those that the same model finds in each whole file.
func benchLive(b *bench) {
	clips := speech.English(b)
	if b.quick {
		clips = speech.First(clips, 60)
	}
	for _, m := range []struct {
		name, model, whole string
		streams            int // well below what the machine carries
	}{
		{"tiny with base finals", "", "base-en", 7},
		{"tiny", "tiny", "tiny-en", 10},
	} {
		tapes := speech.Deal(clips, m.streams, pause)
		audio := make([][]int16, len(tapes))
		for i, t := range tapes {
			audio[i] = t.PCM
		}
		p, err := openEngine(b.ctx, moonshine.Config{Model: m.model, MaxStreams: len(tapes)})
		b.check(err)
		all := streamAll(b, p, audio)
		closeEngine(p)
		transcribe, closeModel, err := openModel(b.ctx, m.whole)
		b.check(err)
		var live, whole []wer.Score
		for i, t := range tapes {
			live = append(live, t.Scores(all[i].segments())...)
			for _, c := range t.Parts {
				text, err := transcribe(c.PCM())
				b.check(err)
				whole = append(whole, wer.ScoreOf(c.Reference, text))
			}
		}
		closeModel()
		low, high := bootstrap(live, whole)
		b.report("live in real time, "+m.name+", word errors beyond those of whole files", atMost(1, 0.5), wer.Percent(live)-wer.Percent(whole), "points",
			fmt.Sprintf("95 %% of bootstraps from %.2f to %.2f; live %.2f %%, whole files %.2f %%; %d recordings", low, high, wer.Percent(live), wer.Percent(whole), len(clips)))
	}
}

// bootstrap is the interval that holds the difference of the error rates in 95
// of 100 draws of as many recordings.
func bootstrap(a, b []wer.Score) (low, high float64) {
	rng := rand.New(rand.NewPCG(7, 8))
	const draws = 4000
	differences := make([]float64, draws)
	for i := range differences {
		var as, bs []wer.Score
		for range a {
			n := rng.IntN(len(a))
			as, bs = append(as, a[n]), append(bs, b[n])
		}
		differences[i] = wer.Percent(as) - wer.Percent(bs)
	}
	slices.Sort(differences)
	return differences[draws*25/1000], differences[draws*975/1000]
}
