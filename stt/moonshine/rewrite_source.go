package moonshine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken/onnx/graph"
)

// A source is a published graph whose weights are looked up by the names that
// the exporter gave to the operations around them.
type source struct {
	prefix  string // of every layer's name
	nodes   map[string]*graph.Node
	byOut   map[string]*graph.Node
	weights map[string]*graph.Tensor
	err     error // why a lookup failed, the first time; what it returned is empty
}

func (s *source) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf(format, args...)
	}
}

// newSource indexes a graph. Its weights may also be in the graph around it.
func newSource(g *graph.Graph, outer ...*graph.Graph) (*source, error) {
	s := &source{nodes: make(map[string]*graph.Node), byOut: make(map[string]*graph.Node), weights: make(map[string]*graph.Tensor)}
	for _, g := range append(outer, g) {
		for _, w := range g.Weights {
			s.weights[w.Name] = w
		}
	}
	const first = "layers.0/self_attn/q_proj/MatMul"
	found := false
	for _, n := range g.Nodes {
		s.nodes[n.Name] = n
		if v := n.Attr("value"); n.Op == "Constant" && v != nil && v.T != nil {
			s.weights[n.Out[0]] = v.T
		}
		for _, o := range n.Out {
			s.byOut[o] = n
		}
		if name := strings.TrimSuffix(n.Name, "_quant"); strings.HasSuffix(name, first) {
			s.prefix, found = strings.TrimSuffix(name, first), true
		}
	}
	if !found {
		return nil, fmt.Errorf("no layer is named as expected")
	}
	return s, nil
}

func (s *source) countLayers() int {
	n := 0
	for s.hasMatrix(fmt.Sprintf("layers.%d/self_attn/q_proj", n)) {
		n++
	}
	return n
}

func (s *source) hasMatrix(name string) bool {
	return s.nodes[s.prefix+name+"/MatMul_quant"] != nil || s.nodes[s.prefix+name+"/MatMul"] != nil
}

// constant finds the weight among a node's inputs.
func (s *source) constant(node string) *graph.Tensor {
	n := s.nodes[node]
	if n == nil {
		s.fail("no operation %s", node)
		return &graph.Tensor{}
	}
	for _, in := range n.In {
		if w := s.weights[in]; w != nil {
			return w
		}
	}
	s.fail("operation %s has no weight", node)
	return &graph.Tensor{}
}

// A matrix is what a linear layer multiplies with: [in, out], quantized with
// one scale and zero point for each output, or real numbers.
type matrix struct {
	in, out int
	bytes   []byte // quantized, int8
	scales  []float32
	zeros   []byte
	reals   []float32
	bias    []float32 // may be nil
}

// linear finds the matrix of a linear layer, which has one of the names.
func (s *source) linear(names ...string) *matrix {
	name := s.prefix + names[max(0, slices.IndexFunc(names, s.hasMatrix))]
	var m *matrix
	if n := s.nodes[name+"/MatMul_quant"]; n != nil && n.Op == "MatMulInteger" && len(n.In) == 4 {
		var err error
		m, err = quantizedMatrix(s.weights[n.In[1]], s.constant(name+"/MatMul_quant_scales_mul"), s.weights[n.In[3]])
		if err != nil {
			s.fail("%s: %w", name, err)
			return &matrix{reals: []float32{}}
		}
	} else {
		w := s.constant(name + "/MatMul")
		if w.Type != graph.Float32 || len(w.Dims) != 2 {
			s.fail("%s: weight of type %d and shape %v", name, w.Type, w.Dims)
			return &matrix{reals: []float32{}}
		}
		m = &matrix{in: int(w.Dims[0]), out: int(w.Dims[1]), reals: w.Float32s()}
	}
	if s.nodes[name+"/Add"] != nil {
		b := s.constant(name + "/Add")
		if b.Size() != m.out {
			s.fail("%s: bias of shape %v", name, b.Dims)
		}
		m.bias = b.Float32s()
	}
	return m
}

// quantizedMatrix makes a matrix of 8-bit weights. They become signed, since that
// product is the faster one.
func quantizedMatrix(w, scale, zero *graph.Tensor) (*matrix, error) {
	if w == nil || scale == nil || zero == nil || len(w.Dims) != 2 || scale.Type != graph.Float32 || zero.Type != w.Type {
		return nil, fmt.Errorf("unexpected quantization")
	}
	m := &matrix{in: int(w.Dims[0]), out: int(w.Dims[1]), bytes: slices.Clone(w.Raw)}
	zeros := slices.Clone(zero.Raw)
	switch w.Type {
	case graph.Uint8:
		for _, list := range [][]byte{m.bytes, zeros} {
			for i := range list {
				list[i] ^= 0x80 // the same as subtracting 128
			}
		}
	case graph.Int8:
	default:
		return nil, fmt.Errorf("weights of type %d", w.Type)
	}
	scales := scale.Float32s()
	for i := range m.out {
		m.scales = append(m.scales, scales[min(i, len(scales)-1)])
		m.zeros = append(m.zeros, zeros[min(i, len(zeros)-1)])
	}
	if n := len(scales); n != 1 && n != m.out || len(zeros) != 1 && len(zeros) != m.out {
		return nil, fmt.Errorf("%d scales for %d columns", n, m.out)
	}
	return m, nil
}

// joinColumns makes a matrix of chosen columns of others that have the same
// number of rows. A column of -1 is zero.
func joinColumns(of []*matrix, pick func(m int) []int) (*matrix, error) {
	first := of[0]
	var cols []column
	for i, m := range of {
		if m.in != first.in || (m.reals == nil) != (first.reals == nil) || m.bias != nil {
			return nil, fmt.Errorf("matrices that cannot be put side by side")
		}
		for _, c := range pick(i) {
			cols = append(cols, column{m, c})
		}
	}
	out := &matrix{in: first.in, out: len(cols)}
	if first.reals != nil {
		out.reals = copyColumns(out.in, cols, 0, func(m *matrix) []float32 { return m.reals })
		return out, nil
	}
	out.bytes = copyColumns(out.in, cols, 0, func(m *matrix) []byte { return m.bytes })
	out.scales = copyColumns(1, cols, 1, func(m *matrix) []float32 { return m.scales })
	out.zeros = copyColumns(1, cols, 0, func(m *matrix) []byte { return m.zeros })
	return out, nil
}

// A column is one of a matrix; an index of -1 is an empty one.
type column struct {
	of    *matrix
	index int
}

func copyColumns[T any](rows int, cols []column, empty T, data func(*matrix) []T) []T {
	out := make([]T, 0, rows*len(cols))
	for row := range rows {
		for _, c := range cols {
			if c.index < 0 {
				out = append(out, empty)
			} else {
				out = append(out, data(c.of)[row*c.of.out+c.index])
			}
		}
	}
	return out
}

// padHeads inserts rows that do nothing, so that the input may have padded heads.
func (m *matrix) padHeads(heads, from, to int) *matrix {
	p := &matrix{in: heads * to, out: m.out, scales: m.scales, zeros: m.zeros, bias: m.bias}
	if m.reals != nil {
		p.reals = padRows(m.reals, heads, from, to, make([]float32, m.out))
	} else {
		p.bytes = padRows(m.bytes, heads, from, to, m.zeros)
	}
	return p
}

func padRows[T any](data []T, heads, from, to int, empty []T) []T {
	var out []T
	size := from * len(empty)
	for h := range heads {
		out = append(out, data[h*size:(h+1)*size]...)
		for range to - from {
			out = append(out, empty...)
		}
	}
	return out
}

// A norm is a layer normalization.
type norm struct {
	weight  *graph.Tensor
	epsilon float32
}

func (s *source) norm(name string) norm {
	w, e := s.constant(s.prefix+name+"/Mul"), s.constant(s.prefix+name+"/Add")
	if e.Type != graph.Float32 || e.Size() != 1 {
		s.fail("%s: epsilon of shape %v", name, e.Dims)
		return norm{weight: w}
	}
	return norm{w, e.Float32s()[0]}
}

// frequencies are the speeds of the rotary embedding. Some exporters repeat and
// convert them before they are used.
func (s *source) frequencies() []float32 {
	n := s.nodes[s.prefix+"rotary_emb/MatMul"]
	for n != nil && len(n.In) > 0 {
		if w := s.weights[n.In[0]]; w != nil {
			if w.Type != graph.Float32 {
				s.fail("frequencies of type %d", w.Type)
			}
			return w.Float32s()
		}
		n = s.byOut[n.In[0]]
	}
	s.fail("no frequencies of positions")
	return nil
}
