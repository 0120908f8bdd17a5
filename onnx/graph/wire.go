package graph

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// The wire types of protocol buffers that ONNX files hold.
const (
	varint  = 0
	fixed64 = 1
	bytes   = 2
	fixed32 = 5
)

var errTruncated = errors.New("file is cut off or damaged")

// A field is one field of a message. Fields that we do not know are kept as
// they are, so that what is read can be written again.
type field struct {
	num  int
	wire int
	n    uint64 // the value if it is a number
	b    []byte // the value if it is bytes, a string or a message
}

// fields splits a message and gives each field to take, in order.
func fields(msg []byte, take func(field) error) error {
	for len(msg) > 0 {
		key, n := binary.Uvarint(msg)
		if n <= 0 {
			return errTruncated
		}
		msg = msg[n:]
		f := field{num: int(key >> 3), wire: int(key & 7)}
		switch f.wire {
		case varint:
			if f.n, n = binary.Uvarint(msg); n <= 0 {
				return errTruncated
			}
			msg = msg[n:]
		case fixed64:
			if len(msg) < 8 {
				return errTruncated
			}
			f.n, msg = binary.LittleEndian.Uint64(msg), msg[8:]
		case fixed32:
			if len(msg) < 4 {
				return errTruncated
			}
			f.n, msg = uint64(binary.LittleEndian.Uint32(msg)), msg[4:]
		case bytes:
			size, n := binary.Uvarint(msg)
			if n <= 0 || size > uint64(len(msg)-n) {
				return errTruncated
			}
			f.b, msg = msg[n:n+int(size)], msg[n+int(size):]
		default:
			return fmt.Errorf("field %d has wire type %d", f.num, f.wire)
		}
		if err := take(f); err != nil {
			return err
		}
	}
	return nil
}

// numbers reads a repeated number, packed or not.
func (f field) numbers(to []int64) ([]int64, error) {
	if f.wire != bytes {
		return append(to, int64(f.n)), nil
	}
	for b := f.b; len(b) > 0; {
		x, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, errTruncated
		}
		to, b = append(to, int64(x)), b[n:]
	}
	return to, nil
}

// A writer appends fields to a message.
type writer struct{ b []byte }

func (w *writer) key(num, wire int) { w.b = binary.AppendUvarint(w.b, uint64(num<<3|wire)) }

func (w *writer) number(num int, x int64) {
	w.key(num, varint)
	w.b = binary.AppendUvarint(w.b, uint64(x))
}

func (w *writer) float(num int, x float32) {
	w.key(num, fixed32)
	w.b = binary.LittleEndian.AppendUint32(w.b, math.Float32bits(x))
}

func (w *writer) bytes(num int, b []byte) {
	w.key(num, bytes)
	w.b = binary.AppendUvarint(w.b, uint64(len(b)))
	w.b = append(w.b, b...)
}

// string writes a string unless it is empty.
func (w *writer) string(num int, s string) {
	if s != "" {
		w.bytes(num, []byte(s))
	}
}

// strings writes a repeated string, in which empty ones count.
func (w *writer) strings(num int, list []string) {
	for _, s := range list {
		w.bytes(num, []byte(s))
	}
}

func (w *writer) numbers(num int, list []int64) {
	for _, x := range list {
		w.number(num, x)
	}
}

// field writes a field as it was read.
func (w *writer) field(f field) {
	switch f.wire {
	case varint:
		w.number(f.num, int64(f.n))
	case fixed64:
		w.key(f.num, fixed64)
		w.b = binary.LittleEndian.AppendUint64(w.b, f.n)
	case fixed32:
		w.key(f.num, fixed32)
		w.b = binary.LittleEndian.AppendUint32(w.b, uint32(f.n))
	case bytes:
		w.bytes(f.num, f.b)
	}
}
