package moonshine

import (
	"errors"
	"io/fs"
	"os"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/onnx"
)

// dims are a model's sizes, read from its own files.
type dims struct {
	layers, heads, head int // head is the size of one
}

// A choice is the token that a model finds most likely to come next.
type choice struct {
	token   int32
	second  int32 // the second best token
	logProb float32
	margin  float32 // to the second best
}

// A network is a loaded encoder and decoder. It may be used by several
// goroutines at once.
type network interface {
	// encode encodes audio [1, samples]. The caller closes what it returns.
	encode(pcm *onnx.Value) ([]*onnx.Value, error)
	// begin reads the first tokens of a text and returns what would follow
	// each of them. The text will have at most maxTokens. What encode returned
	// stays open until the run is closed.
	begin(encoded []*onnx.Value, tokens []int64, maxTokens int) (run, []choice, error)
	close()
}

// A run is one text that is being decoded.
type run interface {
	// step adds a token and returns what would follow.
	step(token int32) (choice, error)
	// trim forgets all but the first n tokens.
	trim(n int) error
	close()
}

// graphs are the encoder and decoder of a network.
type graphs struct {
	rt               *onnx.Runtime
	encoder, decoder *onnx.Session
	dims             dims
	encoded          []string // the encoder's outputs
	inputs, outputs  []string // the decoder's
}

// audioInput is the encoder's input.
const audioInput = "input_values"

// openGraphs loads two model files. The function sets the sizes and names of
// the graphs after looking at the decoder.
func openGraphs(rt *onnx.Runtime, encoder, decoder string, describe func(*graphs) error) (_ *graphs, err error) {
	g := &graphs{rt: rt}
	defer func() {
		if err != nil {
			g.close()
		}
	}()
	if g.encoder, err = openSession(rt, encoder); err != nil {
		return nil, err
	}
	if g.decoder, err = openSession(rt, decoder); err != nil {
		return nil, err
	}
	if err := describe(g); err != nil {
		return nil, damagedError(decoder, err)
	}
	// NewCall fails if a graph lacks an input or output.
	if _, err := g.decoder.NewCall(g.inputs, g.outputs); err != nil {
		return nil, damagedError(decoder, err)
	}
	if _, err := g.encoder.NewCall([]string{audioInput}, g.encoded); err != nil {
		return nil, damagedError(encoder, err)
	}
	return g, nil
}

// openSession loads a model file. The error says what is wrong with it.
func openSession(rt *onnx.Runtime, path string) (*onnx.Session, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, unreadableError(path, err)
	}
	s, err := rt.Open(path)
	if err != nil {
		return nil, damagedError(path, err)
	}
	return s, nil
}

func (g *graphs) close() {
	g.encoder.Close()
	g.decoder.Close()
}

func (g *graphs) encode(pcm *onnx.Value) ([]*onnx.Value, error) {
	call, err := g.encoder.NewCall([]string{audioInput}, g.encoded)
	if err != nil {
		return nil, err
	}
	defer call.Close()
	call.SetInput(0, pcm)
	if err := call.Run(); err != nil {
		return nil, err
	}
	values := make([]*onnx.Value, len(g.encoded))
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

// bestTwo returns the indexes of the two highest of at least two logits.
func bestTwo(logits []float32) (best, second int) {
	best, second = 0, 1
	if logits[1] > logits[0] {
		best, second = 1, 0
	}
	for i := 2; i < len(logits); i++ {
		switch x := logits[i]; {
		case x > logits[best]:
			best, second = i, best
		case x > logits[second]:
			second = i
		}
	}
	return best, second
}

func unreadableError(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return hearken.Errorf(hearken.ProviderNotConfigured, "The model file %s is missing.", path).
			WithTry("hearken models pull")
	}
	return hearken.Errorf(hearken.ProviderNotConfigured, "The model file %s cannot be read: %w.", path, err).
		WithTry("hearken models pull")
}

func damagedError(path string, err error) error {
	return hearken.Errorf(hearken.ProviderNotConfigured, "The model file %s is damaged or not a Moonshine model: %w.", path, err).
		WithTry("hearken models pull")
}
