// Package graph reads and writes ONNX model files, so that a model can be
// rewritten into one that computes the same in less time.
//
// It knows the parts of the format that a rewrite touches and keeps the rest
// as it is. [Read] does not copy: a model holds the bytes that it was read
// from, and tensors are parts of them until they are replaced.
package graph

import "slices"

// A Model is an ONNX file.
type Model struct {
	Graph  *Graph
	Opsets []Opset
	rest   []byte // fields that we do not know
}

// An Opset names a set of operators and its version.
type Opset struct {
	Domain  string // empty for ONNX's own
	Version int64
}

// A Graph is a list of nodes in an order in which they can run.
type Graph struct {
	Name    string
	Nodes   []*Node
	Weights []*Tensor
	Inputs  []*Value
	Outputs []*Value
	rest    []byte // fields that we do not know
}

// A Node is one operation.
type Node struct {
	Name   string
	Op     string
	Domain string // of the operator; empty for ONNX's own
	In     []string
	Out    []string
	Attrs  []*Attr
	rest   []byte // fields that we do not know
}

// An Attr is a constant of a node. Type tells which field holds its value.
type Attr struct {
	Name   string
	Type   AttrType
	F      float32
	I      int64
	S      []byte
	T      *Tensor
	G      *Graph
	Ints   []int64
	Floats []float32
	rest   []byte // fields that we do not know
}

// AttrType is the type of an attribute.
type AttrType int64

// The types of attributes that we know.
const (
	Float     AttrType = 1
	Int       AttrType = 2
	String    AttrType = 3
	TensorVal AttrType = 4
	GraphVal  AttrType = 5
	Floats    AttrType = 6
	Ints      AttrType = 7
)

// A Value is an input or output of a graph, with its type as it was written.
type Value struct {
	Name string
	typ  []byte
	rest []byte // fields that we do not know
}

// Weight returns the tensor of that name, or nil.
func (g *Graph) Weight(name string) *Tensor {
	return find(g.Weights, func(t *Tensor) bool { return t.Name == name })
}

// Attr returns the attribute of that name, or nil.
func (n *Node) Attr(name string) *Attr {
	return find(n.Attrs, func(a *Attr) bool { return a.Name == name })
}

func find[T any](list []*T, matches func(*T) bool) *T {
	if i := slices.IndexFunc(list, matches); i >= 0 {
		return list[i]
	}
	return nil
}

// IntAttr makes an attribute that is a number.
func IntAttr(name string, i int64) *Attr { return &Attr{Name: name, Type: Int, I: i} }

// FloatAttr makes an attribute that is a real number.
func FloatAttr(name string, f float32) *Attr { return &Attr{Name: name, Type: Float, F: f} }

// IntsAttr makes an attribute that is a list of numbers.
func IntsAttr(name string, ints ...int64) *Attr { return &Attr{Name: name, Type: Ints, Ints: ints} }

// Prune removes nodes whose outputs nobody reads and weights that no node
// uses.
func (g *Graph) Prune() {
	needed := make(map[string]bool)
	for _, o := range g.Outputs {
		needed[o.Name] = true
	}
	var nodes []*Node
	for _, n := range slices.Backward(g.Nodes) {
		if slices.ContainsFunc(n.Out, func(o string) bool { return needed[o] }) {
			nodes = append(nodes, n)
			n.addReads(needed)
		}
	}
	slices.Reverse(nodes)
	g.Nodes = nodes
	g.Weights = slices.DeleteFunc(slices.Clone(g.Weights), func(t *Tensor) bool { return !needed[t.Name] })
}

// addReads adds every name that the node reads, also in graphs inside it.
func (n *Node) addReads(names map[string]bool) {
	for _, in := range n.In {
		names[in] = true
	}
	for _, a := range n.Attrs {
		if a.G == nil {
			continue
		}
		for _, o := range a.G.Outputs {
			names[o.Name] = true
		}
		for _, inner := range a.G.Nodes {
			inner.addReads(names)
		}
	}
}
