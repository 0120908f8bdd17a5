package moonshine

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/onnx"
)

// Verify compares the results of the rewritten model in dir with those of the
// published one on some recordings; without any it makes its own. If they
// disagree by more than rounding explains, it removes the rewritten graphs and
// returns an error.
func Verify(ctx context.Context, rt *onnx.Runtime, dir string, recordings [][]float32) error {
	if len(recordings) == 0 {
		recordings = testRecordings()
	}
	d, err := compareModels(ctx, rt, dir, recordings)
	if err == nil && d.tooMuch() {
		err = fmt.Errorf("verify rewritten model: %w", d)
	}
	if err == nil || ctx.Err() != nil {
		return err
	}
	if undo := RemoveRewritten(dir); undo != nil {
		return fmt.Errorf("%w; %w", err, undo)
	}
	return err
}

// A disagreement is how far two models are apart, token by token.
type disagreement struct {
	tokens int     // compared
	sure   int     // of which the published model was sure
	wrong  int     // of which the rewritten one said something else
	drift  float64 // sum of the differences between log-probabilities
}

// sure is the margin from which on rounding cannot change the choice.
const sure = 1

// tooMuch allows what rounding does. The numbers of the published model itself
// differ in the second digit for audio that is louder by one part in a million.
func (d disagreement) tooMuch() bool {
	return d.wrong > 1+d.sure/50 || d.drift > 0.15*float64(d.tokens)
}

func (d disagreement) Error() string {
	return fmt.Sprintf("%d of %d sure tokens differ, log-probabilities drift by %.3f over %d tokens",
		d.wrong, d.sure, d.drift/float64(max(d.tokens, 1)), d.tokens)
}

func compareModels(ctx context.Context, rt *onnx.Runtime, dir string, recordings [][]float32) (disagreement, error) {
	var d disagreement
	fast, err := LoadModel(rt, dir, ModelOptions{})
	if err != nil {
		return d, err
	}
	defer fast.Close()
	if fast.notRewritten != nil {
		return d, fast.notRewritten
	}
	published, err := LoadModel(rt, dir, ModelOptions{Unmodified: true})
	if err != nil {
		return d, err
	}
	defer published.Close()
	for _, pcm := range recordings {
		want, err := published.Transcribe(ctx, pcm, nil)
		if err != nil {
			return d, err
		}
		if err := d.compareText(ctx, fast, pcm, want); err != nil {
			return d, err
		}
	}
	return d, nil
}

// compareText gives a model the text that another one found and counts where it
// would have chosen differently: in one pass, as for a draft, and step by step.
func (d *disagreement) compareText(ctx context.Context, m *Model, pcm []float32, want Result) error {
	encoded, err := m.encode(pcm)
	if err != nil {
		return err
	}
	defer closeAll(encoded)
	tokens := textTokens(want.Tokens)
	whole, choices, err := m.network.begin(encoded, tokens, len(tokens))
	if err != nil {
		return err
	}
	whole.close()
	steps, first, err := m.network.begin(encoded, tokens[:1], len(tokens))
	if err != nil {
		return err
	}
	defer steps.close()
	next := first[0]
	for i, t := range want.Tokens {
		d.countToken(want, i, choices[i])
		d.countToken(want, i, next)
		if err := ctx.Err(); err != nil {
			return err
		}
		if next, err = steps.step(t); err != nil {
			return err
		}
	}
	return nil
}

func (d *disagreement) countToken(want Result, i int, c choice) {
	d.tokens++
	if want.Margins[i] >= sure {
		d.sure++
	}
	switch {
	case c.token == want.Tokens[i]:
		d.drift += math.Abs(float64(want.LogProbs[i] - finite(c.logProb)))
	case want.Margins[i] >= sure:
		d.wrong++
	}
}

// testRecordings makes audio in which a model for speech finds words: syllables
// of vowels, which are a buzz through resonances.
func testRecordings() [][]float32 {
	random := rand.New(rand.NewPCG(1, 2))
	vowels := [][2]float64{{730, 1090}, {270, 2290}, {300, 870}, {530, 1840}, {570, 840}}
	var recordings [][]float32
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
					off := (h*pitch - f) / 120
					gain += math.Exp(-off * off)
				}
				x += gain * math.Sin(2*math.Pi*h*pitch*t)
			}
			pcm[i] = float32(0.05*loud*x + 0.002*random.NormFloat64())
		}
		recordings = append(recordings, pcm)
	}
	return recordings
}
