package graph

import (
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// The element types of tensors that we know, as ONNX numbers them.
const (
	Float32 = 1
	Uint8   = 2
	Int8    = 3
	Int32   = 6
	Int64   = 7
	Bool    = 9
)

// A Tensor is a constant. Raw holds its elements, little-endian.
type Tensor struct {
	Name string
	Type int64
	Dims []int64
	Raw  []byte
	rest []byte // fields that we do not know
}

// Size is the number of elements.
func (t *Tensor) Size() int {
	n := 1
	for _, d := range t.Dims {
		n *= int(d)
	}
	return n
}

// elementSize is the number of bytes of an element, 0 if unknown.
func elementSize(typ int64) int {
	switch typ {
	case Uint8, Int8, Bool:
		return 1
	case Float32, Int32:
		return 4
	case Int64:
		return 8
	}
	return 0
}

// Float32s copies the elements of a tensor of that type.
func (t *Tensor) Float32s() []float32 {
	out := make([]float32, len(t.Raw)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(t.Raw[4*i:]))
	}
	return out
}

// FloatTensor makes a tensor of real numbers.
func FloatTensor(name string, data []float32, dims ...int64) *Tensor {
	raw := make([]byte, 0, 4*len(data))
	for _, x := range data {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return &Tensor{Name: name, Type: Float32, Dims: dims, Raw: raw}
}

// IntTensor makes a tensor of whole numbers.
func IntTensor(name string, data []int64, dims ...int64) *Tensor {
	raw := make([]byte, 0, 8*len(data))
	for _, x := range data {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(x))
	}
	return &Tensor{Name: name, Type: Int64, Dims: dims, Raw: raw}
}

// The fields of a tensor that hold its elements in other ways than raw bytes.
const (
	floatData    = 4
	int32Data    = 5
	int64Data    = 7
	dataLocation = 14
)

func readTensor(msg []byte) (*Tensor, error) {
	t := new(Tensor)
	err := eachField(msg, func(f field) (err error) {
		switch f.num {
		case 1:
			t.Dims, err = f.numbers(t.Dims)
		case 2:
			t.Type = int64(f.n)
		case 8:
			t.Name = string(f.b)
		case 9:
			t.Raw = f.b
		case floatData:
			if f.typ == protowire.BytesType {
				t.Raw = append(t.Raw, f.b...)
			} else {
				t.Raw = binary.LittleEndian.AppendUint32(t.Raw, uint32(f.n))
			}
		case int32Data, int64Data:
			var list []int64
			list, err = f.numbers(nil)
			for _, x := range list {
				t.appendInt(x)
			}
		case dataLocation:
			if f.n != 0 {
				err = fmt.Errorf("tensor %s is in another file", t.Name)
			}
		default:
			t.rest = append(t.rest, f.raw...)
		}
		return err
	})
	if w := elementSize(t.Type); err == nil && w > 0 && len(t.Raw) != w*t.Size() {
		err = fmt.Errorf("tensor %s has %d bytes for the shape %v", t.Name, len(t.Raw), t.Dims)
	}
	return t, err
}

func (t *Tensor) appendInt(x int64) {
	switch elementSize(t.Type) {
	case 1:
		t.Raw = append(t.Raw, byte(x))
	case 4:
		t.Raw = binary.LittleEndian.AppendUint32(t.Raw, uint32(x))
	default:
		t.Raw = binary.LittleEndian.AppendUint64(t.Raw, uint64(x))
	}
}

func (t *Tensor) write() []byte {
	w := &writer{b: make([]byte, 0, len(t.Raw)+len(t.Name)+64)}
	w.numbers(1, t.Dims)
	w.number(2, t.Type)
	w.string(8, t.Name)
	w.bytes(9, t.Raw)
	w.raw(t.rest)
	return w.b
}
