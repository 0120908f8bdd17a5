package moonshine

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"

	"github.com/hearken-dev/hearken/onnx"
)

// A publishedNetwork is a model as it is published: the decoder is one graph
// with a branch for the first run and one for all that follow.
type publishedNetwork struct{ *graphs }

// openPublished loads the published graphs. The sizes are in the decoder's inputs.
func openPublished(rt *onnx.Runtime, dir string) (network, error) {
	g, err := openGraphs(rt, filepath.Join(dir, encoderFile), filepath.Join(dir, decoderFile), func(g *graphs) (err error) {
		g.dims, err = publishedSizes(g.decoder)
		g.encoded = []string{"last_hidden_state"}
		g.inputs = append([]string{"input_ids", "encoder_hidden_states", "use_cache_branch"}, cacheNames("past_key_values", g.dims.layers)...)
		g.outputs = append([]string{"logits"}, cacheNames("present", g.dims.layers)...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &publishedNetwork{g}, nil
}

// publishedSizes reads the dimensions of a decoder from its inputs and outputs.
func publishedSizes(s *onnx.Session) (dims, error) {
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
	var errs [3]error
	r.call, errs[0] = p.decoder.NewCall(p.inputs, p.outputs)
	r.branch, errs[1] = onnx.NewTensor[bool](p.rt, 1)
	r.token, errs[2] = onnx.NewTensor[int64](p.rt, 1, 1)
	if err := cmp.Or(errs[0], errs[1], errs[2]); err != nil {
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
		v, err := onnx.NewTensor[float32](p.rt, 1, int64(p.dims.heads), 1, int64(p.dims.head))
		if err != nil {
			return nil, nil, err
		}
		r.setCache(i, v)
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
			r.setCache(i, v)
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
		choices = append(choices, mostLikely(data[:size]))
	}
	return choices, nil
}

func (r *publishedRun) setCache(i int, v *onnx.Value) {
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
			r.setCache(i, v)
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
	closeAll(r.cache)
}

func mostLikely(logits []float32) choice {
	best, second := bestTwo(logits)
	top := logits[best]
	var sum float64
	for _, x := range logits {
		if d := x - top; d > -20 {
			sum += math.Exp(float64(d))
		}
	}
	return choice{token: int32(best), second: int32(second), logProb: float32(-math.Log(sum)), margin: top - logits[second]}
}
