package moonshine

import (
	"fmt"

	"github.com/hearken-dev/hearken/onnx/graph"
)

// maxTextTokens is the number of positions that a rewritten decoder knows.
const maxTextTokens = 4096

// The inputs and outputs of a rewritten decoder besides the caches.
const (
	portTokens  = "tokens"  // int64 [1, new]
	portLast    = "last"    // int32 [1]: the position of the last token
	portLength  = "length"  // int32: the number of tokens, old and new
	portProbs   = "probs"   // float32 [1, new, candidates]: probabilities of the best tokens
	portChoices = "choices" // int64 [1, new, candidates]: the tokens
	portLogits  = "logits"  // float32 [1, new, candidates, 1]: their exact logits
)

// candidates is how many tokens the output layer proposes. Its product rounds
// to integers, so an exact product decides between them.
const candidates = 4

func textKey(layer int) string      { return fmt.Sprintf("text.%d.key", layer) }
func textValue(layer int) string    { return fmt.Sprintf("text.%d.value", layer) }
func presentKey(layer int) string   { return fmt.Sprintf("present.%d.key", layer) }
func presentValue(layer int) string { return fmt.Sprintf("present.%d.value", layer) }

// paddedHead is the size of a head in the decoder's own caches: the operator needs
// a multiple of sixteen.
func (d dims) paddedHead() int { return (d.head + 15) / 16 * 16 }

// decoderSource finds the weights of a published decoder and its sizes. The
// weights are in the branch for the first run and in the graph around it.
func decoderSource(m *graph.Model) (*source, dims, error) {
	d, err := decoderSizes(m.Graph)
	if err != nil {
		return nil, d, err
	}
	for _, n := range m.Graph.Nodes {
		if first := n.Attr("else_branch"); n.Op == "If" && first != nil && first.G != nil {
			src, err := newSource(first.G, m.Graph)
			return src, d, err
		}
	}
	return nil, d, fmt.Errorf("decoder has no branches")
}

// decoderSizes reads the dimensions that a published decoder declares.
func decoderSizes(g *graph.Graph) (dims, error) {
	var d dims
	for _, in := range g.Inputs {
		if in.Name != fmt.Sprintf("past_key_values.%d.decoder.key", d.layers) {
			continue
		}
		shape, err := in.Shape()
		if err != nil || len(shape) != 4 || shape[1] <= 0 || shape[3] <= 0 {
			return d, fmt.Errorf("input %s has the shape %v", in.Name, shape)
		}
		d.layers++
		d.heads, d.head = int(shape[1]), int(shape[3])
	}
	if d.layers == 0 {
		return d, fmt.Errorf("decoder has no caches")
	}
	return d, nil
}

// rewriteDecoder makes one graph without branches for all runs. Its caches
// grow in place, and only the two best tokens come out.
func rewriteDecoder(m *graph.Model, src *source, d dims) (*graph.Model, error) {
	b := &builder{src: src}
	b.g.Inputs = []*graph.Value{
		graph.NewValue(portTokens, graph.Int64, graph.Dim{Size: 1}, graph.Dim{Name: "new"}),
		graph.NewValue(portLast, graph.Int32, graph.Dim{Size: 1}),
		graph.NewValue(portLength, graph.Int32),
	}
	cos, sin := b.rotationTables(src.frequencies(), maxTextTokens)
	x := b.embed(portTokens)
	h := b.norm(x, "layers.0/input_layernorm")
	for i := range d.layers {
		at := fmt.Sprintf("layers.%d/", i)
		x, h = b.addNorm(x, b.selfAttention(h, d, i, cos, sin), at+"post_attention_layernorm")
		x, h = b.addNorm(x, b.crossAttention(h, d, i), at+"final_layernorm")
		x, h = b.addNorm(x, b.feedForward(h, at), normAfter(i, d.layers, "norm"))
	}
	b.chooseTokens(h)
	return b.model(m), src.err
}

// selfAttention attends to the text. The operator rotates queries and keys by
// their positions and updates the caches.
func (b *builder) selfAttention(h string, d dims, layer int, cos, sin string) string {
	at := fmt.Sprintf("layers.%d/self_attn/", layer)
	packed := b.qkv(at, func(*matrix) []int { return paddedColumns(d.heads, d.head, d.paddedHead()) })
	cache := func(name string) *graph.Value {
		return graph.NewValue(name, graph.Float32, graph.Dim{Size: 1}, graph.Dim{Size: int64(d.heads)}, graph.Dim{Name: "room"}, graph.Dim{Size: int64(d.paddedHead())})
	}
	b.g.Inputs = append(b.g.Inputs, cache(textKey(layer)), cache(textValue(layer)))
	out := b.ops(microsoft, "GroupQueryAttention", 3,
		[]string{b.linear(h, packed), "", "", textKey(layer), textValue(layer), portLast, portLength, cos, sin},
		graph.IntAttr("num_heads", int64(d.heads)), graph.IntAttr("kv_num_heads", int64(d.heads)),
		graph.IntAttr("do_rotary", 1), graph.IntAttr("rotary_interleaved", 1), graph.FloatAttr("scale", d.attentionScale()))
	b.nameOutput(out[1], cache(presentKey(layer)))
	b.nameOutput(out[2], cache(presentValue(layer)))
	return b.linear(out[0], b.src.linear(at+"dense", at+"o_proj").padHeads(d.heads, d.head, d.paddedHead()))
}

// crossAttention attends to the audio.
func (b *builder) crossAttention(h string, d dims, layer int) string {
	at := fmt.Sprintf("layers.%d/encoder_attn/", layer)
	q := b.linearNamed(h, at+"q_proj")
	for _, name := range []string{audioKeyName(layer), audioValueName(layer)} {
		b.g.Inputs = append(b.g.Inputs, graph.NewValue(name, graph.Float32,
			graph.Dim{Size: 1}, graph.Dim{Size: int64(d.heads)}, graph.Dim{Name: "frames"}, graph.Dim{Size: int64(d.head)}))
	}
	y := b.op(microsoft, "MultiHeadAttention", []string{q, audioKeyName(layer), audioValueName(layer)},
		graph.IntAttr("num_heads", int64(d.heads)), graph.FloatAttr("scale", d.attentionScale()))
	return b.linearNamed(y, at+"dense", at+"o_proj")
}

// feedForward is the feed-forward part: one half of the product gates the other.
func (b *builder) feedForward(h, at string) string {
	halves := b.ops("", "Split", 2, []string{b.linearNamed(h, at+"mlp/up_proj", at+"mlp/fc1")}, graph.IntAttr("axis", -1))
	gate := b.op(microsoft, "QuickGelu", []string{halves[1]}, graph.FloatAttr("alpha", 1))
	return b.linearNamed(b.op("", "Mul", []string{gate, halves[0]}), at+"mlp/down_proj", at+"mlp/fc2")
}

// embed turns tokens into vectors.
func (b *builder) embed(tokens string) string {
	gather := b.src.prefix + "embed_tokens/Gather"
	table := b.src.constant(gather)
	x := b.op("", "Gather", []string{b.weightOnce(table), tokens})
	if table.Type == graph.Float32 {
		return x
	}
	dequantize := b.src.nodes[gather+"_output_0_DequantizeLinear"]
	if dequantize == nil || len(dequantize.In) != 3 {
		b.src.fail("quantized embedding without a scale")
		return x
	}
	scale, zero := b.src.weights[dequantize.In[1]], b.src.weights[dequantize.In[2]]
	if scale == nil || zero == nil {
		b.src.fail("quantized embedding without a scale")
		return x
	}
	return b.op("", "DequantizeLinear", []string{x, b.weightOnce(scale), b.weightOnce(zero)})
}

// chooseTokens finds the best tokens and computes their exact logits.
func (b *builder) chooseTokens(h string) {
	head, tied := b.src.outputMatrix()
	logits := b.linear(h, head)
	top := b.ops("", "TopK", 2, []string{b.op("", "Softmax", []string{logits}, graph.IntAttr("axis", -1)), b.intWeight("candidates", candidates)},
		graph.IntAttr("axis", -1))
	var exact string
	if tied {
		rows := b.embed(top[1])
		exact = b.op("", "MatMul", []string{rows, b.op("", "Unsqueeze", []string{h, b.intWeight("axis", -1)})})
	} else {
		exact = b.op("", "Unsqueeze", []string{b.op("", "GatherElements", []string{logits, top[1]}, graph.IntAttr("axis", -1)), b.intWeight("axis", -1)})
	}
	per := []graph.Dim{{Size: 1}, {Name: "new"}, {Size: candidates}}
	b.nameOutput(top[0], graph.NewValue(portProbs, graph.Float32, per...))
	b.nameOutput(top[1], graph.NewValue(portChoices, graph.Int64, per...))
	b.nameOutput(exact, graph.NewValue(portLogits, graph.Float32, append(per, graph.Dim{Size: 1})...))
}

// outputMatrix finds the matrix that makes logits and reports whether it is the
// transposed embedding, which the published graph transposes and unpacks in
// every run.
func (s *source) outputMatrix() (m *matrix, tied bool) {
	none := &matrix{reals: []float32{}}
	n := s.nodes["/proj_out/MatMul"]
	if n == nil {
		s.fail("no operation /proj_out/MatMul")
		return none, false
	}
	if w := s.weights[n.In[1]]; w != nil && w.Type == graph.Float32 && len(w.Dims) == 2 {
		return &matrix{in: int(w.Dims[0]), out: int(w.Dims[1]), reals: w.Float32s()}, false
	}
	unpack, turn := s.byOut[n.In[1]], s.byOut[n.In[1]]
	if unpack != nil && unpack.Op == "DequantizeLinear" {
		turn = s.byOut[unpack.In[0]]
	}
	if turn == nil || turn.Op != "Transpose" || s.weights[turn.In[0]] == nil || len(s.weights[turn.In[0]].Dims) != 2 {
		s.fail("the output layer has an unknown form")
		return none, false
	}
	table := s.weights[turn.In[0]]
	tied = s.constant(s.prefix+"embed_tokens/Gather") == table
	rows, cols := int(table.Dims[0]), int(table.Dims[1])
	if table.Type == graph.Float32 {
		return &matrix{in: cols, out: rows, reals: transposed(table.Float32s(), rows, cols)}, tied
	}
	if unpack.Op != "DequantizeLinear" || len(unpack.In) != 3 {
		s.fail("the output layer has an unknown form")
		return none, false
	}
	flat := &graph.Tensor{Type: table.Type, Dims: []int64{table.Dims[1], table.Dims[0]}, Raw: transposed(table.Raw, rows, cols)}
	m, err := quantizedMatrix(flat, s.weights[unpack.In[1]], s.weights[unpack.In[2]])
	if err != nil {
		s.fail("output layer: %w", err)
		return none, false
	}
	return m, tied
}

func transposed[T any](in []T, rows, cols int) []T {
	out := make([]T, len(in))
	for r := range rows {
		for c := range cols {
			out[c*rows+r] = in[r*cols+c]
		}
	}
	return out
}
