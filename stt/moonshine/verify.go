package moonshine

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/onnx"
)

// Verify compares the rewritten model in dir with the published one, by what
// they make of some sound. With no sound given it makes its own. If they
// disagree by more than rounding explains, the rewritten graphs are removed
// and the error tells.
func Verify(ctx context.Context, rt *onnx.Runtime, dir string, sounds [][]float32) error {
	if len(sounds) == 0 {
		sounds = testSounds()
	}
	d, err := compare(ctx, rt, dir, sounds)
	if err == nil && d.tooMuch() {
		err = fmt.Errorf("verify rewritten model: %w", d)
	}
	if err == nil || ctx.Err() != nil {
		return err
	}
	if undo := Unrewrite(dir); undo != nil {
		return fmt.Errorf("%w; %w", err, undo)
	}
	return err
}

// A disagreement is how far two models are apart.
type disagreement struct {
	words, wrong int     // in the published model's texts, and how many differ
	tokens       int     // compared one by one
	drift        float64 // sum of the differences between their log-probabilities
}

// tooMuch allows what rounding does: a word in ten may differ, since a text
// that takes one other turn goes on differently, but where both say the same
// they must be about as sure.
func (d disagreement) tooMuch() bool {
	return d.wrong > 2+d.words/10 || d.tokens > 0 && d.drift/float64(d.tokens) > 0.1
}

func (d disagreement) Error() string {
	return fmt.Sprintf("%d of %d words differ, log-probabilities drift by %.3f over %d tokens",
		d.wrong, d.words, d.drift/float64(max(d.tokens, 1)), d.tokens)
}

func compare(ctx context.Context, rt *onnx.Runtime, dir string, sounds [][]float32) (disagreement, error) {
	var d disagreement
	fast, err := LoadModel(rt, dir, ModelOptions{})
	if err != nil {
		return d, err
	}
	defer fast.Close()
	published, err := LoadModel(rt, dir, ModelOptions{Unmodified: true})
	if err != nil {
		return d, err
	}
	defer published.Close()
	for _, pcm := range sounds {
		want, err := published.Transcribe(ctx, pcm, nil)
		if err != nil {
			return d, err
		}
		got, err := fast.Transcribe(ctx, pcm, nil)
		if err != nil {
			return d, err
		}
		words := strings.Fields(want.Text)
		d.words += len(words)
		d.wrong += distance(words, strings.Fields(got.Text))
		for i, t := range want.Tokens {
			if i >= len(got.Tokens) || got.Tokens[i] != t {
				break
			}
			d.tokens++
			d.drift += math.Abs(float64(want.LogProbs[i] - got.LogProbs[i]))
		}
	}
	return d, nil
}

// distance is the number of words to change, add or leave out.
func distance(a, b []string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			cost := diagonal
			if x != y {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// testSounds makes sounds that a model for speech has something to say about:
// vowels, which are a buzz through resonances, in syllables.
func testSounds() [][]float32 {
	random := rand.New(rand.NewPCG(1, 2))
	vowels := [][2]float64{{730, 1090}, {270, 2290}, {300, 870}, {530, 1840}, {570, 840}}
	var sounds [][]float32
	for n := range 4 {
		pcm := make([]float32, (2+n)*hearken.SampleRate)
		for i := range pcm {
			t := float64(i) / hearken.SampleRate
			syllable := int(t * 4)
			formants := vowels[(syllable*7+n)%len(vowels)]
			loud := math.Max(0, math.Sin(math.Pi*math.Mod(t*4, 1)))
			pitch := 110 + 20*math.Sin(2*math.Pi*t/1.5) + float64(10*n)
			var x float64
			for h := 1.0; h*pitch < 4000; h++ {
				gain := 0.01
				for _, f := range formants {
					gain += math.Exp(-math.Pow((h*pitch-f)/120, 2))
				}
				x += gain * math.Sin(2*math.Pi*h*pitch*t)
			}
			pcm[i] = float32(0.05*loud*x + 0.002*random.NormFloat64())
		}
		sounds = append(sounds, pcm)
	}
	return sounds
}
