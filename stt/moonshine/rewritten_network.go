package moonshine

import (
	"fmt"
	"math"

	"github.com/hearken-dev/hearken/onnx"
)

// A rewrittenNetwork is a model whose graphs were rewritten: the encoder makes
// the keys and values that the decoder's layers read, and one graph decodes.
type rewrittenNetwork struct {
	rt      *onnx.Runtime
	encoder *onnx.Session
	decoder *onnx.Session
	dims    dims
	encoded []string // the encoder's outputs
	inputs  []string
	outputs []string
}

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

// openRewritten loads the rewritten graphs of the model in dir.
func openRewritten(rt *onnx.Runtime, dir string, o onnx.Options) (_ *rewrittenNetwork, err error) {
	encoder, decoder, err := rewrittenFiles(dir)
	if err != nil {
		return nil, err
	}
	f := &rewrittenNetwork{rt: rt}
	defer func() {
		if err != nil {
			f.close()
		}
	}()
	if f.encoder, err = openSession(rt, encoder, o); err != nil {
		return nil, err
	}
	if f.decoder, err = openSession(rt, decoder, o); err != nil {
		return nil, err
	}
	for f.addLayer() {
	}
	f.inputs = append([]string{portTokens, portLast, portLength}, append(f.inputs, f.encoded...)...)
	f.outputs = append([]string{portProbs, portChoices, portLogits}, f.outputs...)
	if f.dims.layers == 0 {
		return nil, damaged(decoder, fmt.Errorf("no layers"))
	}
	if err := hasPorts(f.decoder, f.inputs, f.outputs); err != nil {
		return nil, damaged(decoder, err)
	}
	if err := hasPorts(f.encoder, []string{"input_values"}, f.encoded); err != nil {
		return nil, damaged(encoder, err)
	}
	return f, nil
}

// addLayer reads the sizes of the next layer, if there is one.
func (f *rewrittenNetwork) addLayer() bool {
	l := f.dims.layers
	p, ok := f.decoder.Input(textKey(l))
	if !ok || len(p.Shape) != 4 {
		return false
	}
	f.dims.layers++
	f.dims.heads, f.dims.head = int(p.Shape[1]), int(p.Shape[3])
	f.inputs = append(f.inputs, textKey(l), textValue(l))
	f.outputs = append(f.outputs, presentKey(l), presentValue(l))
	f.encoded = append(f.encoded, audioKey(l), audioValue(l))
	return true
}

func (f *rewrittenNetwork) close() {
	f.encoder.Close()
	f.decoder.Close()
}

func (f *rewrittenNetwork) encode(pcm *onnx.Value) ([]*onnx.Value, error) {
	return encode(f.encoder, pcm, f.encoded)
}

// A rewrittenRun is one text that is being decoded. A step allocates nothing:
// the caches have space for the longest text and grow in place.
type rewrittenRun struct {
	call      *onnx.Call
	values    []*onnx.Value // all that must be closed
	length    int           // tokens in the caches
	maxTokens int

	// The memory of the inputs and outputs of a step.
	token         []int64
	last, total   []int32
	probs, logits []float32
	choices       []int64
}

func (f *rewrittenNetwork) begin(encoded []*onnx.Value, tokens []int64, maxTokens int) (_ run, _ []choice, err error) {
	r := &rewrittenRun{maxTokens: max(maxTokens, len(tokens))}
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
	for i := range 2 * f.dims.layers {
		cache, err := tensor[float32](r, f.rt, 1, int64(f.dims.heads), int64(r.maxTokens), int64(f.dims.head))
		if err != nil {
			return nil, nil, err
		}
		r.call.SetInput(portCacheIndex+i, cache)
		r.call.SetOutput(portPresentIndex+i, cache)
	}
	for i, v := range encoded {
		r.call.SetInput(portCacheIndex+2*f.dims.layers+i, v)
	}
	last, err := tensor[int32](r, f.rt, 1)
	if err != nil {
		return nil, nil, err
	}
	length, err := tensor[int32](r, f.rt)
	if err != nil {
		return nil, nil, err
	}
	r.last, r.total = onnx.Data[int32](last), onnx.Data[int32](length)
	r.call.SetInput(portLastIndex, last)
	r.call.SetInput(portLengthIndex, length)
	choices, err := r.read(f.rt, tokens)
	if err != nil || len(tokens) == 1 {
		return r, choices, err
	}
	return r, choices, r.prepare(f.rt, 1)
}

// tensor makes a tensor that is closed with the run.
func tensor[T onnx.Element](r *rewrittenRun, rt *onnx.Runtime, shape ...int64) (*onnx.Value, error) {
	v, err := onnx.NewTensor[T](rt, shape...)
	if err == nil {
		r.values = append(r.values, v)
	}
	return v, err
}

// prepare makes the tensors for n tokens and their results.
func (r *rewrittenRun) prepare(rt *onnx.Runtime, n int) error {
	tokens, err := tensor[int64](r, rt, 1, int64(n))
	if err != nil {
		return err
	}
	probs, err := tensor[float32](r, rt, 1, int64(n), candidates)
	if err != nil {
		return err
	}
	choices, err := tensor[int64](r, rt, 1, int64(n), candidates)
	if err != nil {
		return err
	}
	logits, err := tensor[float32](r, rt, 1, int64(n), candidates, 1)
	if err != nil {
		return err
	}
	r.token, r.probs = onnx.Data[int64](tokens), onnx.Data[float32](probs)
	r.choices, r.logits = onnx.Data[int64](choices), onnx.Data[float32](logits)
	r.call.SetInput(portTokensIndex, tokens)
	r.call.SetOutput(portProbsIndex, probs)
	r.call.SetOutput(portChoicesIndex, choices)
	r.call.SetOutput(portLogitsIndex, logits)
	return nil
}

// read reads the first tokens.
func (r *rewrittenRun) read(rt *onnx.Runtime, tokens []int64) ([]choice, error) {
	if err := r.prepare(rt, len(tokens)); err != nil {
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
	best, second := 0, 1
	if logits[1] > logits[0] {
		best, second = 1, 0
	}
	for c := 2; c < candidates; c++ {
		switch {
		case logits[c] > logits[best]:
			best, second = c, best
		case logits[c] > logits[second]:
			second = c
		}
	}
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
	for _, v := range r.values {
		v.Close()
	}
}
