package moonshine

import (
	"errors"
	"fmt"
	"math"

	"github.com/hearken-dev/hearken/onnx"
)

// A rewrittenNetwork is a model whose graphs were rewritten: the encoder makes
// the keys and values that the decoder's layers read, and one graph decodes.
type rewrittenNetwork struct{ *graphs }

// The first inputs and outputs of the decoder. The caches of the text follow,
// and after them, among the inputs, the output of the encoder.
const (
	portTokensIndex = iota
	portLastIndex
	portLengthIndex
	portCacheIndex
)
const (
	portProbsIndex = iota
	portChoicesIndex
	portLogitsIndex
	portPresentIndex
)

func openRewritten(rt *onnx.Runtime, dir string) (network, error) {
	encoder, decoder, err := rewrittenFiles(dir)
	if err != nil {
		return nil, err
	}
	g, err := openGraphs(rt, encoder, decoder, describeRewritten)
	if err != nil {
		return nil, err
	}
	return &rewrittenNetwork{g}, nil
}

// describeRewritten reads the sizes and names of each layer.
func describeRewritten(g *graphs) error {
	g.inputs = []string{portTokens, portLast, portLength}
	g.outputs = []string{portProbs, portChoices, portLogits}
	for l := 0; ; l++ {
		p, ok := g.decoder.Input(textKey(l))
		if !ok || len(p.Shape) != 4 {
			break
		}
		g.dims = dims{layers: l + 1, heads: int(p.Shape[1]), head: int(p.Shape[3])}
		g.inputs = append(g.inputs, textKey(l), textValue(l))
		g.outputs = append(g.outputs, presentKey(l), presentValue(l))
		g.encoded = append(g.encoded, audioKeyName(l), audioValueName(l))
	}
	if g.dims.layers == 0 {
		return errors.New("no layers")
	}
	g.inputs = append(g.inputs, g.encoded...)
	return nil
}

// A rewrittenRun is one text that is being decoded. A step allocates nothing:
// the caches have space for the longest text and grow in place.
type rewrittenRun struct {
	rt        *onnx.Runtime
	call      *onnx.Call
	values    []*onnx.Value // all that must be closed
	err       error         // why a tensor could not be made
	length    int           // tokens in the caches
	maxTokens int

	// The memory of the inputs and outputs of a step.
	token         []int64
	last, total   []int32
	probs, logits []float32
	choices       []int64
}

func (f *rewrittenNetwork) begin(encoded []*onnx.Value, tokens []int64, maxTokens int) (_ run, _ []choice, err error) {
	r := &rewrittenRun{rt: f.rt, maxTokens: max(maxTokens, len(tokens))}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	if r.maxTokens > maxTextTokens {
		return nil, nil, fmt.Errorf("text of %d tokens is too long", r.maxTokens)
	}
	if r.call, err = f.decoder.NewCall(f.inputs, f.outputs); err != nil {
		return nil, nil, err
	}
	var caches []*onnx.Value
	for range 2 * f.dims.layers {
		caches = append(caches, tensor[float32](r, 1, int64(f.dims.heads), int64(r.maxTokens), int64(f.dims.head)))
	}
	last, length := tensor[int32](r, 1), tensor[int32](r)
	if r.err != nil {
		return nil, nil, r.err
	}
	for i, cache := range caches {
		r.call.SetInput(portCacheIndex+i, cache)
		r.call.SetOutput(portPresentIndex+i, cache)
	}
	for i, v := range encoded {
		r.call.SetInput(portCacheIndex+len(caches)+i, v)
	}
	r.last, r.total = onnx.Data[int32](last), onnx.Data[int32](length)
	r.call.SetInput(portLastIndex, last)
	r.call.SetInput(portLengthIndex, length)
	choices, err := r.readFirst(tokens)
	if err != nil || len(tokens) == 1 {
		return r, choices, err
	}
	return r, choices, r.makeTensors(1)
}

// tensor makes a tensor that is closed with the run. If that fails, it sets
// r.err and returns nil.
func tensor[T onnx.Element](r *rewrittenRun, shape ...int64) *onnx.Value {
	v, err := onnx.NewTensor[T](r.rt, shape...)
	if err != nil {
		r.err = err
		return nil
	}
	r.values = append(r.values, v)
	return v
}

func (r *rewrittenRun) makeTensors(n int) error {
	tokens, choices := tensor[int64](r, 1, int64(n)), tensor[int64](r, 1, int64(n), candidates)
	probs, logits := tensor[float32](r, 1, int64(n), candidates), tensor[float32](r, 1, int64(n), candidates, 1)
	if r.err != nil {
		return r.err
	}
	r.token, r.probs = onnx.Data[int64](tokens), onnx.Data[float32](probs)
	r.choices, r.logits = onnx.Data[int64](choices), onnx.Data[float32](logits)
	r.call.SetInput(portTokensIndex, tokens)
	r.call.SetOutput(portProbsIndex, probs)
	r.call.SetOutput(portChoicesIndex, choices)
	r.call.SetOutput(portLogitsIndex, logits)
	return nil
}

func (r *rewrittenRun) readFirst(tokens []int64) ([]choice, error) {
	if err := r.makeTensors(len(tokens)); err != nil {
		return nil, err
	}
	copy(r.token, tokens)
	if err := r.run(); err != nil {
		return nil, err
	}
	choices := make([]choice, len(tokens))
	for i := range choices {
		choices[i] = r.choice(i)
	}
	return choices, nil
}

func (r *rewrittenRun) step(token int32) (choice, error) {
	r.token[0] = int64(token)
	if err := r.run(); err != nil {
		return choice{}, err
	}
	return r.choice(0), nil
}

// run runs the decoder for the tokens in r.token.
func (r *rewrittenRun) run() error {
	n := r.length + len(r.token)
	if n > r.maxTokens {
		return fmt.Errorf("no space for token %d", n)
	}
	r.last[0], r.total[0] = int32(n-1), int32(n)
	if err := r.call.Run(); err != nil {
		return err
	}
	r.length = n
	return nil
}

// choice is what follows the i-th token of the last run. The candidates come
// with probabilities that are nearly right and logits that are exact; all
// other tokens together have the rest of the probability.
func (r *rewrittenRun) choice(i int) choice {
	i *= candidates
	probs, logits := r.probs[i:i+candidates], r.logits[i:i+candidates]
	best, second := bestTwo(logits)
	all := 1.0
	for c, p := range probs {
		all += float64(probs[0])*math.Exp(float64(logits[c]-logits[0])) - float64(p)
	}
	return choice{
		token:   int32(r.choices[i+best]),
		second:  int32(r.choices[i+second]),
		logProb: min(0, float32(math.Log(float64(probs[0])/max(all, 1e-9)))+logits[best]-logits[0]),
		margin:  logits[best] - logits[second],
	}
}

func (r *rewrittenRun) trim(n int) error {
	r.length = n
	return nil
}

func (r *rewrittenRun) close() {
	r.call.Close()
	closeAll(r.values)
}
