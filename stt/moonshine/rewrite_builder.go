package moonshine

import (
	"fmt"
	"math"
	"slices"

	"github.com/hearken-dev/hearken/onnx/graph"
)

// microsoft is the domain of ONNX Runtime's own operators, which do in one
// step what the published graphs spell out in dozens.
const microsoft = "com.microsoft"

// A builder puts a graph together from the weights of another.
type builder struct {
	src *source
	g   graph.Graph
	n   int // makes names
}

func (b *builder) newName(what string) string {
	b.n++
	return fmt.Sprintf("%s_%d", what, b.n)
}

// op adds an operation with one output and returns that.
func (b *builder) op(domain, op string, in []string, attrs ...*graph.Attr) string {
	return b.ops(domain, op, 1, in, attrs...)[0]
}

// ops adds an operation with several outputs.
func (b *builder) ops(domain, op string, outputs int, in []string, attrs ...*graph.Attr) []string {
	name := b.newName(op)
	n := &graph.Node{Name: name, Op: op, Domain: domain, In: in, Attrs: attrs}
	for i := range outputs {
		n.Out = append(n.Out, fmt.Sprintf("%s.%d", name, i))
	}
	b.g.Nodes = append(b.g.Nodes, n)
	return n.Out
}

func (b *builder) weight(t *graph.Tensor) string {
	b.g.Weights = append(b.g.Weights, t)
	return t.Name
}

// weightOnce adds a constant under its own name, unless it exists.
func (b *builder) weightOnce(t *graph.Tensor) string {
	if b.g.Weight(t.Name) == nil {
		b.weight(t)
	}
	return t.Name
}

func (b *builder) floatWeight(what string, data []float32, dims ...int64) string {
	return b.weight(graph.FloatTensor(b.newName(what), data, dims...))
}

func (b *builder) intWeight(what string, data ...int64) string {
	return b.weight(graph.IntTensor(b.newName(what), data, int64(len(data))))
}

// nameOutput gives a value its public name.
func (b *builder) nameOutput(value string, v *graph.Value) {
	for _, n := range b.g.Nodes {
		for i, o := range n.Out {
			if o == value {
				n.Out[i] = v.Name
			}
		}
		for i, in := range n.In {
			if in == value {
				n.In[i] = v.Name
			}
		}
	}
	b.g.Outputs = append(b.g.Outputs, v)
}

func (b *builder) linear(x string, m *matrix) string {
	if m.reals != nil {
		y := b.op("", "MatMul", []string{x, b.floatWeight("matrix", m.reals, int64(m.in), int64(m.out))})
		if m.bias != nil {
			y = b.op("", "Add", []string{y, b.floatWeight("bias", m.bias, int64(m.out))})
		}
		return y
	}
	in := []string{x,
		b.weight(&graph.Tensor{Name: b.newName("matrix"), Type: graph.Int8, Dims: []int64{int64(m.in), int64(m.out)}, Raw: m.bytes})}
	scales, zeros, dims := m.scales, m.zeros, []int64{int64(m.out)}
	if allEqual(scales) && allEqual(zeros) {
		scales, zeros, dims = scales[:1], zeros[:1], nil
	}
	in = append(in, b.floatWeight("scale", scales, dims...),
		b.weight(&graph.Tensor{Name: b.newName("zero"), Type: graph.Int8, Dims: dims, Raw: zeros}))
	if m.bias != nil {
		in = append(in, b.floatWeight("bias", m.bias, int64(m.out)))
	}
	return b.op(microsoft, "DynamicQuantizeMatMul", in)
}

func allEqual[T comparable](list []T) bool {
	return !slices.ContainsFunc(list, func(x T) bool { return x != list[0] })
}

// linearNamed multiplies with the matrix of one of the names.
func (b *builder) linearNamed(x string, names ...string) string {
	return b.linear(x, b.src.linear(names...))
}

func (b *builder) norm(x, name string) string {
	n := b.src.norm(name)
	return b.op("", "LayerNormalization", []string{x, b.gamma(n)},
		graph.IntAttr("axis", -1), graph.FloatAttr("epsilon", n.epsilon))
}

// addNorm adds y to x and normalizes. It returns the sum and the normalized
// sum.
func (b *builder) addNorm(x, y, name string) (sum, normed string) {
	n := b.src.norm(name)
	out := b.ops(microsoft, "SkipLayerNormalization", 4, []string{x, y, b.gamma(n)}, graph.FloatAttr("epsilon", n.epsilon))
	node := b.g.Nodes[len(b.g.Nodes)-1]
	node.Out[1], node.Out[2] = "", "" // mean and deviation, which nobody reads
	return out[3], out[0]
}

// normAfter names the normalization after a layer: that of the next layer, or
// the last one.
func normAfter(layer, layers int, last string) string {
	if layer == layers-1 {
		return last
	}
	return fmt.Sprintf("layers.%d/input_layernorm", layer+1)
}

func (b *builder) gamma(n norm) string {
	return b.weight(&graph.Tensor{Name: b.newName("gamma"), Type: graph.Float32, Dims: n.weight.Dims, Raw: n.weight.Raw})
}

// rotationTables adds tables of the cosine and sine of every position.
func (b *builder) rotationTables(frequencies []float32, positions int) (cos, sin string) {
	var c, s []float32
	for p := range positions {
		for _, f := range frequencies {
			angle := float64(f * float32(p)) // the product as the model computes it
			c, s = append(c, float32(math.Cos(angle))), append(s, float32(math.Sin(angle)))
		}
	}
	dims := []int64{int64(positions), int64(len(frequencies))}
	return b.floatWeight("cos", c, dims...), b.floatWeight("sin", s, dims...)
}

// qkv makes one matrix of the three of an attention. The function chooses the
// columns of each.
func (b *builder) qkv(at string, pick func(*matrix) []int) *matrix {
	var list []*matrix
	for _, name := range []string{"q_proj", "k_proj", "v_proj"} {
		list = append(list, b.src.linear(at+name))
	}
	m, err := joinColumns(list, func(i int) []int { return pick(list[i]) })
	if err != nil {
		b.src.fail("%s: %w", at, err)
		return list[0]
	}
	return m
}

// model makes a file of the graph that was built, with the versions of another.
func (b *builder) model(like *graph.Model) *graph.Model {
	b.g.Name = "hearken"
	b.g.Prune()
	m := like.WithGraph(&b.g)
	m.RequireOpset(graph.Opset{Domain: microsoft, Version: 1})
	return m
}

// paddedColumns lists the columns of one head after the other, each padded to
// size.
func paddedColumns(heads, head, size int) []int {
	var cols []int
	for h := range heads {
		for i := range size {
			if i < head {
				cols = append(cols, h*head+i)
			} else {
				cols = append(cols, -1)
			}
		}
	}
	return cols
}
