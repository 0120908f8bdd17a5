package moonshine

import (
	"math/rand/v2"
	"testing"

	"github.com/hearken-dev/hearken"
)

// TestEngine_CutFarBack streams somebody who speaks for so long that the
// utterance is cut well before the newest sound, after a passage that the tape
// might have let go of.
func TestEngine_CutFarBack(t *testing.T) {
	clips := map[string][]int16{}
	for _, c := range recordings(t) {
		clips[c.file] = c.pcm
	}
	p := engine(t, Config{Model: "tiny"})
	pcm := make([]int16, 25*hearken.SampleRate)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range pcm {
		pcm[i] = int16(rng.IntN(29) - 14)
	}
	copy(pcm[3*hearken.SampleRate/10:], clips["ls-other-2609-156975-0007.wav"])
	copy(pcm[202*hearken.SampleRate/10:], clips["ls-other-367-130732-0007.wav"])
	segments := stream1(t, p, pcm)
	if n := len(normal(spokenText(segments))); n < 30 {
		t.Errorf("only %d words were heard in 25 s", n)
	}
}
