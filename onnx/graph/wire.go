package graph

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// A field is one field of a message.
type field struct {
	num protowire.Number
	typ protowire.Type
	n   uint64 // the value if it is a number
	b   []byte // the value if it is bytes, a string or a message
	raw []byte // all of it: what we do not know is written as it was read
}

// eachField splits a message and passes each field to visit, in order.
func eachField(msg []byte, visit func(field) error) error {
	for len(msg) > 0 {
		num, typ, size := protowire.ConsumeField(msg)
		if size < 0 {
			return fmt.Errorf("file is cut off or damaged: %w", protowire.ParseError(size))
		}
		f := field{num: num, typ: typ, raw: msg[:size]}
		_, _, tag := protowire.ConsumeTag(msg)
		switch value := msg[tag:size]; typ {
		case protowire.VarintType:
			f.n, _ = protowire.ConsumeVarint(value)
		case protowire.Fixed64Type:
			f.n, _ = protowire.ConsumeFixed64(value)
		case protowire.Fixed32Type:
			n, _ := protowire.ConsumeFixed32(value)
			f.n = uint64(n)
		case protowire.BytesType:
			f.b, _ = protowire.ConsumeBytes(value)
		default:
			return fmt.Errorf("field %d has wire type %d", num, typ)
		}
		if err := visit(f); err != nil {
			return err
		}
		msg = msg[size:]
	}
	return nil
}

// numbers reads a repeated number, packed or not.
func (f field) numbers(to []int64) ([]int64, error) {
	if f.typ != protowire.BytesType {
		return append(to, int64(f.n)), nil
	}
	for b := f.b; len(b) > 0; {
		x, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		to, b = append(to, int64(x)), b[n:]
	}
	return to, nil
}

// A writer appends fields to a message.
type writer struct{ b []byte }

func (w *writer) number(num protowire.Number, x int64) {
	w.b = protowire.AppendTag(w.b, num, protowire.VarintType)
	w.b = protowire.AppendVarint(w.b, uint64(x))
}

func (w *writer) float(num protowire.Number, x float32) {
	w.b = protowire.AppendTag(w.b, num, protowire.Fixed32Type)
	w.b = protowire.AppendFixed32(w.b, math.Float32bits(x))
}

func (w *writer) bytes(num protowire.Number, b []byte) {
	w.b = protowire.AppendTag(w.b, num, protowire.BytesType)
	w.b = protowire.AppendBytes(w.b, b)
}

// string writes a string unless it is empty.
func (w *writer) string(num protowire.Number, s string) {
	if s != "" {
		w.bytes(num, []byte(s))
	}
}

// strings writes a repeated string, in which empty ones count.
func (w *writer) strings(num protowire.Number, list []string) {
	for _, s := range list {
		w.bytes(num, []byte(s))
	}
}

func (w *writer) numbers(num protowire.Number, list []int64) {
	for _, x := range list {
		w.number(num, x)
	}
}

// raw writes fields as they were read.
func (w *writer) raw(fields []byte) { w.b = append(w.b, fields...) }
