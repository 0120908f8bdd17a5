package graph

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Write makes a model file.
func (m *Model) Write() []byte {
	w := new(writer)
	w.raw(m.rest)
	for _, o := range m.Opsets {
		var set writer
		set.string(1, o.Domain)
		set.number(2, o.Version)
		w.bytes(8, set.b)
	}
	w.bytes(7, m.Graph.write())
	return w.b
}

// WithGraph makes a model of another graph with the same versions.
func (m *Model) WithGraph(g *Graph) *Model { return &Model{Graph: g, Opsets: m.Opsets, rest: m.rest} }

// RequireOpset adds a set of operators unless the model has it.
func (m *Model) RequireOpset(o Opset) {
	if !slices.ContainsFunc(m.Opsets, func(have Opset) bool { return have.Domain == o.Domain }) {
		m.Opsets = append(slices.Clip(m.Opsets), o)
	}
}

func (g *Graph) write() []byte {
	size := 0
	for _, t := range g.Weights {
		size += len(t.Raw) + 128
	}
	w := &writer{b: make([]byte, 0, size+1<<16)}
	writeAll(w, 1, g.Nodes)
	w.string(2, g.Name)
	writeAll(w, 5, g.Weights)
	writeAll(w, 11, g.Inputs)
	writeAll(w, 12, g.Outputs)
	w.raw(g.rest)
	return w.b
}

func writeAll[M interface{ write() []byte }](w *writer, num protowire.Number, list []M) {
	for _, m := range list {
		w.bytes(num, m.write())
	}
}

func (n *Node) write() []byte {
	w := new(writer)
	w.strings(1, n.In)
	w.strings(2, n.Out)
	w.string(3, n.Name)
	w.string(4, n.Op)
	writeAll(w, 5, n.Attrs)
	w.string(7, n.Domain)
	w.raw(n.rest)
	return w.b
}

func (a *Attr) write() []byte {
	w := new(writer)
	w.string(1, a.Name)
	switch a.Type {
	case Float:
		w.float(2, a.F)
	case Int:
		w.number(3, a.I)
	case String:
		w.bytes(4, a.S)
	case TensorVal:
		w.bytes(5, a.T.write())
	case GraphVal:
		w.bytes(6, a.G.write())
	case Floats:
		for _, x := range a.Floats {
			w.float(7, x)
		}
	case Ints:
		w.numbers(8, a.Ints)
	}
	w.number(20, int64(a.Type))
	w.raw(a.rest)
	return w.b
}

func (v *Value) write() []byte {
	w := new(writer)
	w.string(1, v.Name)
	if v.typ != nil {
		w.bytes(2, v.typ)
	}
	w.raw(v.rest)
	return w.b
}

// A Dim is a dimension of a value: a size, or a name for one that is open.
type Dim struct {
	Size int64
	Name string
}

// NewValue makes an input or output that is a tensor.
func NewValue(name string, typ int64, dims ...Dim) *Value {
	var shape writer
	for _, d := range dims {
		var dim writer
		if d.Name != "" {
			dim.string(2, d.Name)
		} else {
			dim.number(1, d.Size)
		}
		shape.bytes(1, dim.b)
	}
	var tensor, t writer
	tensor.number(1, typ)
	tensor.bytes(2, shape.b)
	t.bytes(1, tensor.b)
	return &Value{Name: name, typ: t.b}
}
