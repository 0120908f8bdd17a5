package moonshine

import (
	"fmt"
	"math"

	"github.com/hearken-dev/hearken/onnx/graph"
)

// maxEncoderPositions is the number of positions that a rewritten encoder
// knows: more than three minutes of audio.
const maxEncoderPositions = 8192

// audioKey and audioValue name the keys and values that a rewritten encoder
// makes for each layer of the decoder. The published one has a single output
// from which the decoder makes them.
func audioKey(layer int) string   { return fmt.Sprintf("sound.%d.key", layer) }
func audioValue(layer int) string { return fmt.Sprintf("sound.%d.value", layer) }

// rewriteEncoder makes an encoder with the same weights that ends with the
// decoder's keys and values.
func rewriteEncoder(m *graph.Model, decoder *source, d dims) (*graph.Model, error) {
	src, err := newSource(m.Graph)
	if err != nil {
		return nil, err
	}
	b := new(builder)
	x, err := stem(b, m.Graph, src)
	if err != nil {
		return nil, err
	}
	frequencies, err := src.frequencies()
	if err != nil {
		return nil, err
	}
	cos, sin := b.rotations(frequencies, maxEncoderPositions)
	rotary := func(x string) string {
		return b.op(microsoft, "RotaryEmbedding", []string{x, b.ints("position", 0), cos, sin},
			graph.IntAttr("interleaved", 1), graph.IntAttr("num_heads", int64(d.heads)),
			graph.IntAttr("rotary_embedding_dim", int64(2*len(frequencies))))
	}
	first, err := src.norm("layers.0/input_layernorm")
	if err != nil {
		return nil, err
	}
	h := b.norm(x, first)
	layers := src.layers()
	for i := range layers {
		at := fmt.Sprintf("layers.%d/", i)
		q, k, v, err := b.split(h, src, at+"self_attn/")
		if err != nil {
			return nil, err
		}
		y := b.op(microsoft, "MultiHeadAttention", []string{rotary(q), rotary(k), v},
			graph.IntAttr("num_heads", int64(d.heads)), graph.FloatAttr("scale", d.scale()))
		if y, err = b.named(y, src, at+"self_attn/dense", at+"self_attn/o_proj"); err != nil {
			return nil, err
		}
		n, err := src.norm(at + "post_attention_layernorm")
		if err != nil {
			return nil, err
		}
		x, h = b.addNorm(x, y, n)
		if y, err = b.named(h, src, at+"mlp/fc1", at+"mlp/up_proj"); err != nil {
			return nil, err
		}
		y = b.op(microsoft, "Gelu", []string{y})
		if y, err = b.named(y, src, at+"mlp/fc2", at+"mlp/down_proj"); err != nil {
			return nil, err
		}
		after := fmt.Sprintf("layers.%d/input_layernorm", i+1)
		if i == layers-1 {
			after = "layer_norm"
		}
		if n, err = src.norm(after); err != nil {
			return nil, err
		}
		x, h = b.addNorm(x, y, n)
	}
	for i := range d.layers {
		for _, kind := range []struct{ proj, name string }{{"k_proj", audioKey(i)}, {"v_proj", audioValue(i)}} {
			w, err := decoder.linear(fmt.Sprintf("layers.%d/encoder_attn/%s", i, kind.proj))
			if err != nil {
				return nil, err
			}
			y := b.op("", "Reshape", []string{b.linear(h, w), b.ints("shape", 1, -1, int64(d.heads), int64(d.head))})
			y = b.op("", "Transpose", []string{y}, graph.IntsAttr("perm", 0, 2, 1, 3))
			b.output(y, graph.NewValue(kind.name, graph.Float32,
				graph.Dim{Size: 1}, graph.Dim{Size: int64(d.heads)}, graph.Dim{Name: "frames"}, graph.Dim{Size: int64(d.head)}))
		}
	}
	return b.model(m)
}

// scale divides the attention.
func (d dims) scale() float32 { return float32(1 / math.Sqrt(float64(d.head))) }

// stem copies what comes before the first layer: the convolutions. Rounding
// their input to eight bits would be faster, but quiet speech is lost: half the
// words were wrong.
func stem(b *builder, g *graph.Graph, src *source) (string, error) {
	mean := src.nodes[src.prefix+"layers.0/input_layernorm/ReduceMean"]
	if mean == nil {
		return "", fmt.Errorf("no operation before the first layer")
	}
	before := graph.Graph{Nodes: g.Nodes, Weights: g.Weights, Outputs: []*graph.Value{{Name: mean.In[0]}}}
	before.Prune()
	b.g.Nodes, b.g.Weights, b.g.Inputs = before.Nodes, before.Weights, g.Inputs
	return mean.In[0], nil
}

// named multiplies with the matrix of one of the names.
func (b *builder) named(x string, src *source, names ...string) (string, error) {
	for _, n := range names {
		if src.has(n) {
			m, err := src.linear(n)
			if err != nil {
				return "", err
			}
			return b.linear(x, m), nil
		}
	}
	return "", fmt.Errorf("no operation %s", names[0])
}

// qkv finds the three matrices of an attention.
func (s *source) qkv(at string) ([]*matrix, error) {
	var list []*matrix
	for _, p := range []string{"q_proj", "k_proj", "v_proj"} {
		m, err := s.linear(at + p)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// split computes queries, keys and values in one product.
func (b *builder) split(h string, src *source, at string) (q, k, v string, err error) {
	list, err := src.qkv(at)
	if err != nil {
		return "", "", "", err
	}
	size := list[0].out
	m, err := columns(list, func(i int) []int { return paddedColumns(1, list[i].out, list[i].out) })
	if err != nil {
		return "", "", "", err
	}
	out := b.ops("", "Split", 3, []string{b.linear(h, m), b.ints("sizes", int64(size), int64(size), int64(size))}, graph.IntAttr("axis", -1))
	return out[0], out[1], out[2], nil
}

// model makes a file of the graph that was built, with the versions of another.
func (b *builder) model(like *graph.Model) (*graph.Model, error) {
	b.g.Name = "hearken"
	b.g.Prune()
	m := like.With(&b.g)
	m.Require(graph.Opset{Domain: microsoft, Version: 1})
	return m, nil
}
