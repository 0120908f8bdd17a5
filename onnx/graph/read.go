package graph

import (
	"encoding/binary"
	"errors"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Read parses a model file.
func Read(file []byte) (*Model, error) {
	m := new(Model)
	err := eachField(file, func(f field) (err error) {
		switch f.num {
		case 7:
			m.Graph, err = readGraph(f.b)
		case 8:
			var o Opset
			err = eachField(f.b, func(f field) error {
				if f.num == 1 {
					o.Domain = string(f.b)
				} else {
					o.Version = int64(f.n)
				}
				return nil
			})
			m.Opsets = append(m.Opsets, o)
		default:
			m.rest = append(m.rest, f.raw...)
		}
		return err
	})
	if err == nil && m.Graph == nil {
		err = errors.New("file holds no graph")
	}
	return m, err
}

func readGraph(msg []byte) (*Graph, error) {
	g := new(Graph)
	err := eachField(msg, func(f field) error {
		switch f.num {
		case 1:
			return appendRead(&g.Nodes, f.b, readNode)
		case 2:
			g.Name = string(f.b)
		case 5:
			return appendRead(&g.Weights, f.b, readTensor)
		case 11:
			return appendRead(&g.Inputs, f.b, readValue)
		case 12:
			return appendRead(&g.Outputs, f.b, readValue)
		default:
			g.rest = append(g.rest, f.raw...)
		}
		return nil
	})
	return g, err
}

func appendRead[T any](list *[]*T, msg []byte, read func([]byte) (*T, error)) error {
	v, err := read(msg)
	*list = append(*list, v)
	return err
}

func readNode(msg []byte) (*Node, error) {
	n := new(Node)
	err := eachField(msg, func(f field) error {
		switch f.num {
		case 1:
			n.In = append(n.In, string(f.b))
		case 2:
			n.Out = append(n.Out, string(f.b))
		case 3:
			n.Name = string(f.b)
		case 4:
			n.Op = string(f.b)
		case 5:
			return appendRead(&n.Attrs, f.b, readAttr)
		case 7:
			n.Domain = string(f.b)
		default:
			n.rest = append(n.rest, f.raw...)
		}
		return nil
	})
	return n, err
}

func readAttr(msg []byte) (*Attr, error) {
	a := new(Attr)
	err := eachField(msg, func(f field) (err error) {
		switch f.num {
		case 1:
			a.Name = string(f.b)
		case 2:
			a.F = math.Float32frombits(uint32(f.n))
		case 3:
			a.I = int64(f.n)
		case 4:
			a.S = f.b
		case 5:
			a.T, err = readTensor(f.b)
		case 6:
			a.G, err = readGraph(f.b)
		case 7:
			for b := f.b; len(b) >= 4; b = b[4:] {
				a.Floats = append(a.Floats, math.Float32frombits(binary.LittleEndian.Uint32(b)))
			}
			if f.typ == protowire.Fixed32Type {
				a.Floats = append(a.Floats, math.Float32frombits(uint32(f.n)))
			}
		case 8:
			a.Ints, err = f.numbers(a.Ints)
		case 20:
			a.Type = AttrType(f.n)
		default:
			a.rest = append(a.rest, f.raw...)
		}
		return err
	})
	return a, err
}

func readValue(msg []byte) (*Value, error) {
	v := new(Value)
	err := eachField(msg, func(f field) error {
		switch f.num {
		case 1:
			v.Name = string(f.b)
		case 2:
			v.typ = f.b
		default:
			v.rest = append(v.rest, f.raw...)
		}
		return nil
	})
	return v, err
}

// Shape is the shape that a graph declares for an input or output that is a
// tensor; -1 stands for an open dimension.
func (v *Value) Shape() ([]int64, error) {
	var shape []int64
	const tensorType, tensorShape, dim, dimValue = 1, 2, 1, 1
	err := eachMessage(v.typ, tensorType, func(tensor []byte) error {
		return eachMessage(tensor, tensorShape, func(dims []byte) error {
			return eachMessage(dims, dim, func(d []byte) error {
				shape = append(shape, -1)
				return eachField(d, func(f field) error {
					if f.num == dimValue && f.typ == protowire.VarintType {
						shape[len(shape)-1] = int64(f.n)
					}
					return nil
				})
			})
		})
	})
	return shape, err
}

// eachMessage gives each message in a field of msg to visit.
func eachMessage(msg []byte, num protowire.Number, visit func([]byte) error) error {
	return eachField(msg, func(f field) error {
		if f.num != num || f.typ != protowire.BytesType {
			return nil
		}
		return visit(f.b)
	})
}
