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

// padded is the size of a head in the decoder's own caches: the operator needs
// a multiple of sixteen.
func (d dims) padded() int { return (d.head + 15) / 16 * 16 }

// branches finds the two graphs in a published decoder: for the first run,
// and for all others.
func branches(m *graph.Model) (first, next *graph.Graph, err error) {
	for _, n := range m.Graph.Nodes {
		if n.Op != "If" {
			continue
		}
		then, otherwise := n.Attr("then_branch"), n.Attr("else_branch")
		if then != nil && otherwise != nil && then.G != nil && otherwise.G != nil {
			return otherwise.G, then.G, nil
		}
	}
	return nil, nil, fmt.Errorf("decoder has no branches")
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
	b := new(builder)
	b.g.Inputs = []*graph.Value{
		graph.NewValue(portTokens, graph.Int64, graph.Dim{Size: 1}, graph.Dim{Name: "new"}),
		graph.NewValue(portLast, graph.Int32, graph.Dim{Size: 1}),
		graph.NewValue(portLength, graph.Int32),
	}
	frequencies, err := src.frequencies()
	if err != nil {
		return nil, err
	}
	cos, sin := b.rotations(frequencies, maxTextTokens)
	x, err := b.embed(src, portTokens)
	if err != nil {
		return nil, err
	}
	n, err := src.norm("layers.0/input_layernorm")
	if err != nil {
		return nil, err
	}
	h := b.norm(x, n)
	for i := range d.layers {
		at := fmt.Sprintf("layers.%d/", i)
		y, err := b.selfAttention(h, src, d, i, cos, sin)
		if err != nil {
			return nil, err
		}
		if n, err = src.norm(at + "post_attention_layernorm"); err != nil {
			return nil, err
		}
		x, h = b.addNorm(x, y, n)
		if y, err = b.crossAttention(h, src, d, i); err != nil {
			return nil, err
		}
		if n, err = src.norm(at + "final_layernorm"); err != nil {
			return nil, err
		}
		x, h = b.addNorm(x, y, n)
		if y, err = b.gated(h, src, at); err != nil {
			return nil, err
		}
		after := fmt.Sprintf("layers.%d/input_layernorm", i+1)
		if i == d.layers-1 {
			after = "norm"
		}
		if n, err = src.norm(after); err != nil {
			return nil, err
		}
		x, h = b.addNorm(x, y, n)
	}
	if err := b.choose(h, src); err != nil {
		return nil, err
	}
	return b.model(m)
}

// selfAttention attends to the text. The operator rotates queries and keys by
// their positions and updates the caches.
func (b *builder) selfAttention(h string, src *source, d dims, layer int, cos, sin string) (string, error) {
	at := fmt.Sprintf("layers.%d/self_attn/", layer)
	list, err := src.qkv(at)
	if err != nil {
		return "", err
	}
	packed, err := columns(list, func(int) []int { return paddedColumns(d.heads, d.head, d.padded()) })
	if err != nil {
		return "", err
	}
	cache := func(name string) *graph.Value {
		return graph.NewValue(name, graph.Float32, graph.Dim{Size: 1}, graph.Dim{Size: int64(d.heads)}, graph.Dim{Name: "room"}, graph.Dim{Size: int64(d.padded())})
	}
	b.g.Inputs = append(b.g.Inputs, cache(textKey(layer)), cache(textValue(layer)))
	out := b.ops(microsoft, "GroupQueryAttention", 3,
		[]string{b.linear(h, packed), "", "", textKey(layer), textValue(layer), portLast, portLength, cos, sin},
		graph.IntAttr("num_heads", int64(d.heads)), graph.IntAttr("kv_num_heads", int64(d.heads)),
		graph.IntAttr("do_rotary", 1), graph.IntAttr("rotary_interleaved", 1), graph.FloatAttr("scale", d.scale()))
	y := out[0]
	b.output(out[1], cache(presentKey(layer)))
	b.output(out[2], cache(presentValue(layer)))
	for _, name := range []string{at + "dense", at + "o_proj"} {
		if src.has(name) {
			dense, err := src.linear(name)
			if err != nil {
				return "", err
			}
			return b.linear(y, dense.pad(d.heads, d.head, d.padded())), nil
		}
	}
	return "", fmt.Errorf("no operation %sdense", at)
}

// crossAttention attends to the audio.
func (b *builder) crossAttention(h string, src *source, d dims, layer int) (string, error) {
	at := fmt.Sprintf("layers.%d/encoder_attn/", layer)
	q, err := b.named(h, src, at+"q_proj")
	if err != nil {
		return "", err
	}
	for _, name := range []string{audioKey(layer), audioValue(layer)} {
		b.g.Inputs = append(b.g.Inputs, graph.NewValue(name, graph.Float32,
			graph.Dim{Size: 1}, graph.Dim{Size: int64(d.heads)}, graph.Dim{Name: "frames"}, graph.Dim{Size: int64(d.head)}))
	}
	y := b.op(microsoft, "MultiHeadAttention", []string{q, audioKey(layer), audioValue(layer)},
		graph.IntAttr("num_heads", int64(d.heads)), graph.FloatAttr("scale", d.scale()))
	return b.named(y, src, at+"dense", at+"o_proj")
}

// gated is the feed-forward part: one half of the product gates the other.
func (b *builder) gated(h string, src *source, at string) (string, error) {
	up, err := b.named(h, src, at+"mlp/up_proj", at+"mlp/fc1")
	if err != nil {
		return "", err
	}
	halves := b.ops("", "Split", 2, []string{up}, graph.IntAttr("axis", -1))
	gate := b.op(microsoft, "QuickGelu", []string{halves[1]}, graph.FloatAttr("alpha", 1))
	return b.named(b.op("", "Mul", []string{gate, halves[0]}), src, at+"mlp/down_proj", at+"mlp/fc2")
}

// embed turns tokens into vectors.
func (b *builder) embed(src *source, tokens string) (string, error) {
	table, err := src.constant(src.prefix + "embed_tokens/Gather")
	if err != nil {
		return "", err
	}
	x := b.op("", "Gather", []string{b.once(table), tokens})
	if table.Type == graph.Float32 {
		return x, nil
	}
	dequantize := src.nodes[src.prefix+"embed_tokens/Gather_output_0_DequantizeLinear"]
	if dequantize == nil || len(dequantize.In) != 3 {
		return "", fmt.Errorf("quantized embedding without a scale")
	}
	scale, zero := src.weights[dequantize.In[1]], src.weights[dequantize.In[2]]
	if scale == nil || zero == nil {
		return "", fmt.Errorf("quantized embedding without a scale")
	}
	return b.op("", "DequantizeLinear", []string{x, b.once(scale), b.once(zero)}), nil
}

// choose finds the best tokens and computes their exact logits.
func (b *builder) choose(h string, src *source) error {
	head, tied, err := src.head()
	if err != nil {
		return err
	}
	logits := b.linear(h, head)
	top := b.ops("", "TopK", 2, []string{b.op("", "Softmax", []string{logits}, graph.IntAttr("axis", -1)), b.ints("candidates", candidates)},
		graph.IntAttr("axis", -1))
	var exact string
	if tied {
		rows, err := b.embed(src, top[1])
		if err != nil {
			return err
		}
		exact = b.op("", "MatMul", []string{rows, b.op("", "Unsqueeze", []string{h, b.ints("axis", -1)})})
	} else {
		exact = b.op("", "Unsqueeze", []string{b.op("", "GatherElements", []string{logits, top[1]}, graph.IntAttr("axis", -1)), b.ints("axis", -1)})
	}
	per := []graph.Dim{{Size: 1}, {Name: "new"}, {Size: candidates}}
	b.output(top[0], graph.NewValue(portProbs, graph.Float32, per...))
	b.output(top[1], graph.NewValue(portChoices, graph.Int64, per...))
	b.output(exact, graph.NewValue(portLogits, graph.Float32, append(per, graph.Dim{Size: 1})...))
	return nil
}

// head finds the matrix that makes logits and reports whether it is the
// transposed embedding, which the published graph transposes and unpacks in
// every run.
func (s *source) head() (m *matrix, tied bool, err error) {
	n := s.nodes["/proj_out/MatMul"]
	if n == nil {
		return nil, false, fmt.Errorf("no operation /proj_out/MatMul")
	}
	if w := s.weights[n.In[1]]; w != nil && w.Type == graph.Float32 && len(w.Dims) == 2 {
		return &matrix{in: int(w.Dims[0]), out: int(w.Dims[1]), reals: w.Float32s()}, false, nil
	}
	unpack, turn := s.byOut[n.In[1]], s.byOut[n.In[1]]
	if unpack != nil && unpack.Op == "DequantizeLinear" {
		turn = s.byOut[unpack.In[0]]
	}
	if turn == nil || turn.Op != "Transpose" || s.weights[turn.In[0]] == nil {
		return nil, false, fmt.Errorf("the output layer has an unknown form")
	}
	table := s.weights[turn.In[0]]
	embedding, err := s.constant(s.prefix + "embed_tokens/Gather")
	tied = err == nil && embedding == table
	if table.Type == graph.Float32 && len(table.Dims) == 2 {
		m = &matrix{in: int(table.Dims[1]), out: int(table.Dims[0])}
		m.reals = transposed(table.Float32s(), m.out, m.in)
		return m, tied, nil
	}
	if unpack.Op != "DequantizeLinear" || len(unpack.In) != 3 || len(table.Dims) != 2 {
		return nil, false, fmt.Errorf("the output layer has an unknown form")
	}
	flat := &graph.Tensor{Type: table.Type, Dims: []int64{table.Dims[1], table.Dims[0]},
		Raw: transposed(table.Raw, int(table.Dims[0]), int(table.Dims[1]))}
	m, err = quantized(flat, s.weights[unpack.In[1]], s.weights[unpack.In[2]])
	return m, tied, err
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
