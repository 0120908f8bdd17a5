package moonshine

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/onnx"
)

// The published files of a model.
const (
	encoderFile = "encoder_model.onnx"
	decoderFile = "decoder_model_merged.onnx"
)

// Every model of the family begins a text with one token and ends it with
// another.
const (
	beginToken = 1
	endToken   = 2
)

// tokensPerSecond is how fast people speak at most, in tokens. What is longer
// is not what was said.
const tokensPerSecond = 6.5

// minAudio is the number of samples that the encoder needs; shorter audio is
// followed by silence.
const minAudio = hearken.SampleRate / 10

// maxAudio is the number of samples that one text can be made of. Models of the
// family are good for a few dozen seconds; this only bounds the memory.
const maxAudio = 180 * hearken.SampleRate

// ModelOptions say how a model is loaded. The zero value is right for English.
type ModelOptions struct {
	// TokensPerSecond bounds the text: 0 is 6.5. Languages that the vocabulary
	// spells in bytes, such as Japanese, need 13.
	TokensPerSecond float64
	// Unmodified loads the published graphs even where rewritten ones exist.
	Unmodified bool
}

// A Result is a model's transcript of a stretch of audio.
type Result struct {
	Text   string
	Tokens []int32 // without the one that ends the text

	// LogProbs holds the natural logarithm of the probability that the model
	// gave to each token, and Margins by how much that was more than what it
	// gave to the second best.
	LogProbs []float32
	Margins  []float32

	// Looped is set if the model began to repeat itself and was stopped; the
	// repetitions are left out. Capped is set if the text did not end.
	Looped bool
	Capped bool

	Steps int // runs of the decoder
}

// A Model is a loaded Moonshine model. It may be used by several goroutines at
// once.
type Model struct {
	rate         float64
	vocab        *vocab
	network      network
	rt           *onnx.Runtime
	notRewritten error // why the published graphs are used; nil if the rewritten ones are
}

// LoadModel loads the model in dir, whatever its size: an encoder, a decoder
// and a vocabulary. The error names the file that is missing or damaged.
func LoadModel(rt *onnx.Runtime, dir string, o ModelOptions) (*Model, error) {
	vocab, err := readVocab(dir)
	if err != nil {
		return nil, err
	}
	m := &Model{rt: rt, rate: cmp.Or(o.TokensPerSecond, tokensPerSecond), vocab: vocab}
	if !o.Unmodified {
		if m.network, err = openRewritten(rt, dir); err == nil {
			return m, nil
		}
		m.notRewritten = err
	}
	if m.network, err = openPublished(rt, dir); err != nil {
		return nil, err
	}
	return m, nil
}

// Close frees the model. No call may be running.
func (m *Model) Close() { m.network.close() }

// Transcribe turns audio at [hearken.SampleRate] into text. A draft is what
// the text probably begins with. Tokens that the model agrees with cost far
// less than those it must find, but in rare cases the text then differs from
// the one found without.
func (m *Model) Transcribe(ctx context.Context, pcm []float32, draft []int32) (Result, error) {
	var r Result
	if len(pcm) == 0 {
		return r, nil
	}
	if len(pcm) > maxAudio {
		return r, hearken.Errorf(hearken.Invalid, "%d seconds of audio are too long for one piece; the limit is %d.",
			len(pcm)/hearken.SampleRate, maxAudio/hearken.SampleRate)
	}
	encoded, err := m.encode(pcm)
	if err != nil {
		return r, fmt.Errorf("encode audio: %w", err)
	}
	defer closeAll(encoded)
	if err := m.decode(ctx, encoded, m.maxTokens(pcm), draft, &r); err != nil {
		return r, fmt.Errorf("decode text: %w", err)
	}
	r.Text = m.vocab.text(r.Tokens)
	return r, nil
}

// maxTokens is how many tokens the text of some audio may have.
func (m *Model) maxTokens(pcm []float32) int {
	return int(float64(len(pcm))/hearken.SampleRate*m.rate) + 1
}

func (m *Model) encode(pcm []float32) ([]*onnx.Value, error) {
	in, err := onnx.NewTensor[float32](m.rt, 1, int64(max(len(pcm), minAudio)))
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data := onnx.Data[float32](in)
	for i, x := range pcm {
		if x-x == 0 { // neither infinite nor NaN
			data[i] = x
		}
	}
	return m.network.encode(in)
}

// finite replaces NaN and infinity, which a Result must not hold.
func finite(x float32) float32 {
	if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
		return -100
	}
	return x
}
