package moonshine

import (
	"fmt"
	"math"
	"path/filepath"

	"github.com/hearken-dev/hearken/onnx"
)

// A publishedNetwork is a model as it is published: the decoder is one graph
// with a branch for the first run and one for all that follow.
type publishedNetwork struct {
	rt      *onnx.Runtime
	encoder *onnx.Session
	decoder *onnx.Session
	dims    dims
	inputs  []string
	outputs []string
}

const hiddenStates = "last_hidden_state"

// openPublished loads the published graphs. The sizes are in the decoder's inputs.
func openPublished(rt *onnx.Runtime, dir string, o onnx.Options) (_ *publishedNetwork, err error) {
	p := &publishedNetwork{rt: rt}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	path := filepath.Join(dir, encoderFile)
	if p.encoder, err = openSession(rt, path, o); err != nil {
		return nil, err
	}
	if err := hasPorts(p.encoder, []string{"input_values"}, []string{hiddenStates}); err != nil {
		return nil, damaged(path, err)
	}
	path = filepath.Join(dir, decoderFile)
	if p.decoder, err = openSession(rt, path, o); err != nil {
		return nil, err
	}
	if p.dims, err = sizes(p.decoder); err != nil {
		return nil, damaged(path, err)
	}
	p.inputs = append([]string{"input_ids", "encoder_hidden_states", "use_cache_branch"}, cacheNames("past_key_values", p.dims.layers)...)
	p.outputs = append([]string{"logits"}, cacheNames("present", p.dims.layers)...)
	if err := hasPorts(p.decoder, p.inputs, p.outputs); err != nil {
		return nil, damaged(path, err)
	}
	return p, nil
}

// sizes reads the dimensions of a decoder from its inputs and outputs.
func sizes(s *onnx.Session) (dims, error) {
	var d dims
	for {
		p, ok := s.Input(fmt.Sprintf("past_key_values.%d.decoder.value", d.layers))
		if !ok {
			break
		}
		if len(p.Shape) != 4 || p.Shape[1] <= 0 || p.Shape[3] <= 0 {
			return d, fmt.Errorf("input %s has the shape %v", p.Name, p.Shape)
		}
		d.layers++
		d.heads, d.head = int(p.Shape[1]), int(p.Shape[3])
	}
	if d.layers == 0 {
		return d, fmt.Errorf("no input past_key_values.0.decoder.value")
	}
	return d, nil
}

// cacheNames lists the attention caches: four for each layer, the decoder's
// own first and then those of the audio.
func cacheNames(prefix string, layers int) []string {
	var names []string
	for i := range layers {
		for _, of := range []string{"decoder", "encoder"} {
			for _, kind := range []string{"key", "value"} {
				names = append(names, fmt.Sprintf("%s.%d.%s.%s", prefix, i, of, kind))
			}
		}
	}
	return names
}

func (p *publishedNetwork) close() {
	p.encoder.Close()
	p.decoder.Close()
}

func (p *publishedNetwork) encode(pcm *onnx.Value) ([]*onnx.Value, error) {
	return encode(p.encoder, pcm, []string{hiddenStates})
}

// The first inputs of the merged graph; the caches follow.
const (
	inTokens = iota
	inHidden
	inBranch
	inCache
)

type publishedRun struct {
	network *publishedNetwork
	call    *onnx.Call
	branch  *onnx.Value
	token   *onnx.Value
	cache   []*onnx.Value
}

func (p *publishedNetwork) begin(encoded []*onnx.Value, tokens []int64, _ int) (_ run, _ []choice, err error) {
	r := &publishedRun{network: p, cache: make([]*onnx.Value, 4*p.dims.layers)}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	if r.call, err = p.decoder.NewCall(p.inputs, p.outputs); err != nil {
		return nil, nil, err
	}
	if r.branch, err = onnx.NewTensor[bool](p.rt, 1); err != nil {
		return nil, nil, err
	}
	if r.token, err = onnx.NewTensor[int64](p.rt, 1, 1); err != nil {
		return nil, nil, err
	}
	first, err := onnx.NewTensor[int64](p.rt, 1, int64(len(tokens)))
	if err != nil {
		return nil, nil, err
	}
	defer first.Close()
	copy(onnx.Data[int64](first), tokens)
	// The first branch does not read the caches, but they must exist.
	for i := range r.cache {
		if r.cache[i], err = onnx.NewTensor[float32](p.rt, 1, int64(p.dims.heads), 1, int64(p.dims.head)); err != nil {
			return nil, nil, err
		}
		r.call.SetInput(inCache+i, r.cache[i])
	}
	r.call.SetInput(inTokens, first)
	r.call.SetInput(inHidden, encoded[0])
	r.call.SetInput(inBranch, r.branch)
	choices, err := r.run(true)
	if err != nil {
		return nil, nil, err
	}
	onnx.Data[bool](r.branch)[0] = true
	r.call.SetInput(inTokens, r.token)
	return r, choices, nil
}

func (r *publishedRun) step(token int32) (choice, error) {
	onnx.Data[int64](r.token)[0] = int64(token)
	c, err := r.run(false)
	if err != nil {
		return choice{}, err
	}
	return c[len(c)-1], nil
}

// run runs the graph and keeps the caches that it made. Those of the audio
// come from the first run only: the other branch returns empty ones.
func (r *publishedRun) run(first bool) ([]choice, error) {
	if err := r.call.Run(); err != nil {
		return nil, err
	}
	for i := range r.cache {
		if v := r.call.Take(1 + i); first || i%4 < 2 {
			r.set(i, v)
		} else {
			v.Close()
		}
	}
	logits := r.call.Take(0)
	defer logits.Close()
	shape := logits.Shape()
	data, size := onnx.Data[float32](logits), int(shape[len(shape)-1])
	if size < 2 || len(data) == 0 {
		return nil, fmt.Errorf("logits have the shape %v", shape)
	}
	var choices []choice
	for ; len(data) > 0; data = data[size:] {
		choices = append(choices, choose(data[:size]))
	}
	return choices, nil
}

func (r *publishedRun) set(i int, v *onnx.Value) {
	r.cache[i].Close()
	r.cache[i] = v
	r.call.SetInput(inCache+i, v)
}

func (r *publishedRun) trim(n int) error {
	for i := range r.cache {
		if i%4 < 2 {
			v, err := trimCache(r.network.rt, r.cache[i], n)
			if err != nil {
				return err
			}
			r.set(i, v)
		}
	}
	return nil
}

// trimCache copies the first n positions of a cache [1, heads, positions, size].
func trimCache(rt *onnx.Runtime, v *onnx.Value, n int) (*onnx.Value, error) {
	shape := v.Shape()
	short, err := onnx.NewTensor[float32](rt, 1, shape[1], int64(n), shape[3])
	if err != nil {
		return nil, err
	}
	from, to := onnx.Data[float32](v), onnx.Data[float32](short)
	all, kept := int(shape[2]*shape[3]), n*int(shape[3])
	for h := range int(shape[1]) {
		copy(to[h*kept:(h+1)*kept], from[h*all:])
	}
	return short, nil
}

func (r *publishedRun) close() {
	r.call.Close()
	r.branch.Close()
	r.token.Close()
	for _, v := range r.cache {
		v.Close()
	}
}

// choose finds the most likely token.
func choose(logits []float32) choice {
	best, second := 0, 1
	if logits[1] > logits[0] {
		best, second = 1, 0
	}
	for i, x := range logits[2:] {
		switch {
		case x > logits[best]:
			best, second = i+2, best
		case x > logits[second]:
			second = i + 2
		}
	}
	top := logits[best]
	var sum float64
	for _, x := range logits {
		if d := x - top; d > -20 {
			sum += math.Exp(float64(d))
		}
	}
	return choice{token: int32(best), second: int32(second), logProb: float32(-math.Log(sum)), margin: top - logits[second]}
}
