package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/hearken-dev/hearken"
)

// A spokenWord is a word of a script with its place in the sound, in samples.
type spokenWord struct {
	text     string
	from, to int
}

// firstWord is the value of the samples of a script's first word; the second
// word's are one more. So what is heard depends on the sound alone: whoever
// loses a part of it, or sends it twice, is heard to do so.
const firstWord = 300

// newScript makes up so many seconds of speech in which no word comes twice,
// and its sound: phrases of a few words or of many, pauses short and long.
func newScript(seed uint64, seconds float64) (script []spokenWord, pcm []int16) {
	r := rand.New(rand.NewPCG(seed, 1))
	between := func(from, to float64) int { return samples(from + r.Float64()*(to-from)) }
	pcm = make([]int16, samples(seconds))
	for at := between(0.2, 1); ; {
		words := 2 + r.IntN(10)
		if r.IntN(6) == 0 {
			words = 30 + r.IntN(20) // in one breath
		}
		for range words {
			end := at + between(0.15, 0.45)
			if end+hearken.SampleRate > len(pcm) {
				return script, pcm
			}
			for i := at; i < end; i++ {
				pcm[i] = int16(firstWord + len(script))
			}
			script = append(script, spokenWord{fmt.Sprintf("w%d", len(script)), at, end})
			if at = end; r.IntN(3) > 0 {
				at += between(0.02, 0.12)
			}
		}
		at += between(0.35, 2.5)
		if r.IntN(8) == 0 {
			at += between(3, 8)
		}
	}
}
