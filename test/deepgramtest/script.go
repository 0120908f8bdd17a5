// Package deepgramtest is a stand-in for Deepgram's streaming API. It
// transcribes made-up audio exactly, so any word that is lost, doubled or out
// of place is the fault of what lies between.
package deepgramtest

import (
	"fmt"
	"math/rand/v2"

	"github.com/hearken-dev/hearken"
)

// A Word is a word of a script with its position in the audio, in samples.
type Word struct {
	Text     string
	From, To int64
}

// FirstWord is the value of the samples of a script's first word; the second
// word's are one more. So the words depend on the audio alone: losing a part of
// it, or sending it twice, shows.
const FirstWord = 300

// Script makes up so many seconds of speech in which no word comes twice, and
// its audio: phrases of a few words or of many, words without a gap between
// them, pauses short and long.
func Script(seed uint64, seconds int) (script []Word, pcm []int16) {
	r := rand.New(rand.NewPCG(seed, 1))
	between := func(from, to float64) int64 { return int64((from + r.Float64()*(to-from)) * hearken.SampleRate) }
	pcm = make([]int16, seconds*hearken.SampleRate)
	at := between(0.2, 1)
	for {
		words := 2 + r.IntN(10)
		if r.IntN(6) == 0 {
			words = 30 + r.IntN(20) // without a pause
		}
		for range words {
			end := at + between(0.15, 0.45)
			if end+hearken.SampleRate > int64(len(pcm)) {
				return script, pcm
			}
			for i := at; i < end; i++ {
				pcm[i] = int16(FirstWord + len(script))
			}
			script = append(script, Word{fmt.Sprintf("w%d", len(script)), at, end})
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
