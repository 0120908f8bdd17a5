package moonshine

import (
	"cmp"
	"fmt"
	"math"

	"github.com/hearken-dev/hearken/onnx/graph"
)

// maxEncoderPositions is the number of positions that a rewritten encoder
// knows: more than three minutes of audio.
const maxEncoderPositions = 8192

// audioKeyName and audioValueName name the keys and values that a rewritten encoder
// makes for each layer of the decoder. The published one has a single output
// from which the decoder makes them.
func audioKeyName(layer int) string   { return fmt.Sprintf("sound.%d.key", layer) }
func audioValueName(layer int) string { return fmt.Sprintf("sound.%d.value", layer) }

// rewriteEncoder makes an encoder with the same weights that ends with the
// decoder's keys and values.
func rewriteEncoder(m *graph.Model, decoder *source, d dims) (*graph.Model, error) {
	src, err := newSource(m.Graph)
	if err != nil {
		return nil, err
	}
	b := &builder{src: src}
	x := b.copyStem(m.Graph)
	frequencies := src.frequencies()
	cos, sin := b.rotationTables(frequencies, maxEncoderPositions)
	rotary := func(x string) string {
		return b.op(microsoft, "RotaryEmbedding", []string{x, b.intWeight("position", 0), cos, sin},
			graph.IntAttr("interleaved", 1), graph.IntAttr("num_heads", int64(d.heads)),
			graph.IntAttr("rotary_embedding_dim", int64(2*len(frequencies))))
	}
	h := b.norm(x, "layers.0/input_layernorm")
	layers := src.countLayers()
	for i := range layers {
		at := fmt.Sprintf("layers.%d/", i)
		q, k, v := b.splitQKV(h, at+"self_attn/")
		y := b.op(microsoft, "MultiHeadAttention", []string{rotary(q), rotary(k), v},
			graph.IntAttr("num_heads", int64(d.heads)), graph.FloatAttr("scale", d.attentionScale()))
		y = b.linearNamed(y, at+"self_attn/dense", at+"self_attn/o_proj")
		x, h = b.addNorm(x, y, at+"post_attention_layernorm")
		y = b.op(microsoft, "Gelu", []string{b.linearNamed(h, at+"mlp/fc1", at+"mlp/up_proj")})
		y = b.linearNamed(y, at+"mlp/fc2", at+"mlp/down_proj")
		x, h = b.addNorm(x, y, normAfter(i, layers, "layer_norm"))
	}
	for i := range d.layers {
		for _, kind := range []struct{ proj, name string }{{"k_proj", audioKeyName(i)}, {"v_proj", audioValueName(i)}} {
			w := decoder.linear(fmt.Sprintf("layers.%d/encoder_attn/%s", i, kind.proj))
			y := b.op("", "Reshape", []string{b.linear(h, w), b.intWeight("shape", 1, -1, int64(d.heads), int64(d.head))})
			y = b.op("", "Transpose", []string{y}, graph.IntsAttr("perm", 0, 2, 1, 3))
			b.nameOutput(y, graph.NewValue(kind.name, graph.Float32,
				graph.Dim{Size: 1}, graph.Dim{Size: int64(d.heads)}, graph.Dim{Name: "frames"}, graph.Dim{Size: int64(d.head)}))
		}
	}
	return b.model(m), cmp.Or(src.err, decoder.err)
}

func (d dims) attentionScale() float32 { return float32(1 / math.Sqrt(float64(d.head))) }

// copyStem copies what comes before the first layer: the convolutions. Rounding
// their input to eight bits would be faster, but quiet speech is lost: half the
// words were wrong.
func (b *builder) copyStem(g *graph.Graph) string {
	mean := b.src.nodes[b.src.prefix+"layers.0/input_layernorm/ReduceMean"]
	if mean == nil {
		b.src.fail("no operation before the first layer")
		return ""
	}
	before := graph.Graph{Nodes: g.Nodes, Weights: g.Weights, Outputs: []*graph.Value{{Name: mean.In[0]}}}
	before.Prune()
	b.g.Nodes, b.g.Weights, b.g.Inputs = before.Nodes, before.Weights, g.Inputs
	return mean.In[0]
}

// splitQKV computes queries, keys and values in one product.
func (b *builder) splitQKV(h, at string) (q, k, v string) {
	m := b.qkv(at, func(m *matrix) []int { return paddedColumns(1, m.out, m.out) })
	size := int64(m.out / 3)
	out := b.ops("", "Split", 3, []string{b.linear(h, m), b.intWeight("sizes", size, size, size)}, graph.IntAttr("axis", -1))
	return out[0], out[1], out[2]
}
