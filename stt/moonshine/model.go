package moonshine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"time"

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
	Threads    int // for one inference; 0 is one
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

	Encode time.Duration // time for the audio
	Decode time.Duration // time for the text
	Steps  int           // runs of the decoder
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
	m := &Model{rt: rt, rate: o.TokensPerSecond}
	if m.rate <= 0 {
		m.rate = tokensPerSecond
	}
	var err error
	if m.vocab, err = readVocab(dir); err != nil {
		return nil, err
	}
	if err := m.load(dir, o); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// load loads the rewritten graphs if there are good ones, otherwise the
// published ones.
func (m *Model) load(dir string, o ModelOptions) error {
	options := onnx.Options{Threads: o.Threads}
	if !o.Unmodified {
		f, err := openRewritten(m.rt, dir, options)
		if err == nil {
			m.network = f
			return nil
		}
		m.notRewritten = err
	}
	p, err := openPublished(m.rt, dir, options)
	if err != nil {
		return err
	}
	m.network = p
	return nil
}

// Close frees the model. No call may be running.
func (m *Model) Close() {
	if m.network != nil {
		m.network.close()
	}
}

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
	start := time.Now()
	encoded, err := m.encode(pcm)
	if err != nil {
		return r, fmt.Errorf("encode audio: %w", err)
	}
	defer closeAll(encoded)
	r.Encode = time.Since(start)
	start = time.Now()
	limit := int(float64(len(pcm))/hearken.SampleRate*m.rate) + 1
	if err := m.decode(ctx, encoded, limit, draft, &r); err != nil {
		return r, fmt.Errorf("decode text: %w", err)
	}
	r.Text = m.vocab.text(r.Tokens)
	r.Decode = time.Since(start)
	return r, nil
}

// encode puts the audio into a tensor and runs the encoder.
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

// encode runs an encoder.
func encode(s *onnx.Session, pcm *onnx.Value, outputs []string) ([]*onnx.Value, error) {
	call, err := s.NewCall([]string{"input_values"}, outputs)
	if err != nil {
		return nil, err
	}
	defer call.Close()
	call.SetInput(0, pcm)
	if err := call.Run(); err != nil {
		return nil, err
	}
	values := make([]*onnx.Value, len(outputs))
	for i := range values {
		values[i] = call.Take(i)
	}
	return values, nil
}

func closeAll(values []*onnx.Value) {
	for _, v := range values {
		v.Close()
	}
}

// openSession loads a model file. The error says what is wrong with it.
func openSession(rt *onnx.Runtime, path string, o onnx.Options) (*onnx.Session, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, unreadable(path, err)
	}
	s, err := rt.Open(path, o)
	if err != nil {
		return nil, damaged(path, err)
	}
	return s, nil
}

func hasPorts(s *onnx.Session, inputs, outputs []string) error {
	for _, n := range inputs {
		if _, ok := s.Input(n); !ok {
			return fmt.Errorf("no input %s", n)
		}
	}
	for _, n := range outputs {
		if _, ok := s.Output(n); !ok {
			return fmt.Errorf("no output %s", n)
		}
	}
	return nil
}

func unreadable(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return hearken.Errorf(hearken.ProviderNotConfigured, "The model file %s is missing.", path).
			WithTry("hearken models pull")
	}
	return hearken.Errorf(hearken.ProviderNotConfigured, "The model file %s cannot be read: %w.", path, err).
		WithTry("hearken models pull")
}

func damaged(path string, err error) error {
	return hearken.Errorf(hearken.ProviderNotConfigured, "The model file %s is damaged or not a Moonshine model: %w.", path, err).
		WithTry("hearken models pull")
}

// finite keeps numbers that are none out of a Result.
func finite(x float32) float32 {
	if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
		return -100
	}
	return x
}
