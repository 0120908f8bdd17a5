package onnx

import (
	"cmp"
	"fmt"
	"slices"
	"unsafe"
)

// A Type is the type of a tensor's elements, as ONNX numbers them.
type Type int32

// The types that our models use.
const (
	Float32 Type = 1
	Int32   Type = 6
	Int64   Type = 7
	Bool    Type = 9
)

// An Element is a Go type that a tensor can hold.
type Element interface {
	float32 | int32 | int64 | bool
}

func typeOf[T Element]() Type {
	switch any(*new(T)).(type) {
	case float32:
		return Float32
	case int32:
		return Int32
	case int64:
		return Int64
	}
	return Bool
}

// A Value is a tensor in the library's memory. It is used by one goroutine at a
// time and must be closed.
type Value struct {
	rt *Runtime
	p  unsafe.Pointer

	// Read from the library once.
	typ   Type
	shape []int64
	data  unsafe.Pointer
}

// NewTensor makes a tensor of zeros. No dimensions make a scalar.
func NewTensor[T Element](rt *Runtime, shape ...int64) (*Value, error) {
	v := &Value{rt: rt}
	if err := rt.api.call(fnCreateTensorAsOrtValue, uintptr(rt.allocator), uintptr(unsafe.Pointer(unsafe.SliceData(shape))),
		uintptr(len(shape)), uintptr(typeOf[T]()), uintptr(unsafe.Pointer(&v.p))); err != nil {
		return nil, fmt.Errorf("make tensor: %w", err)
	}
	rt.live.Add(1)
	clear(Data[T](v))
	return v, nil
}

// Data is the tensor's own memory, valid until it is closed. It is nil if the
// elements are of another type.
func Data[T Element](v *Value) []T {
	if err := v.inspect(); err != nil || v.typ != typeOf[T]() {
		return nil
	}
	n := int64(1)
	for _, d := range v.shape {
		n *= d
	}
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(v.data), n)
}

// Shape is the tensor's dimensions.
func (v *Value) Shape() []int64 {
	_ = v.inspect() // fails only if it is no tensor, which has no shape
	return slices.Clone(v.shape)
}

// inspect reads the type, the shape and the memory of the tensor, once.
func (v *Value) inspect() error {
	if v.data != nil {
		return nil
	}
	var info unsafe.Pointer
	if err := v.rt.api.call(fnGetTensorTypeAndShape, uintptr(v.p), uintptr(unsafe.Pointer(&info))); err != nil {
		return err
	}
	defer v.rt.api.release(fnReleaseTensorTypeAndShapeInfo, info)
	var err error
	if v.typ, v.shape, err = v.rt.tensorInfo(info); err != nil {
		return err
	}
	return v.rt.api.call(fnGetTensorMutableData, uintptr(v.p), uintptr(unsafe.Pointer(&v.data)))
}

func (rt *Runtime) tensorInfo(info unsafe.Pointer) (Type, []int64, error) {
	var typ Type
	var n uint64
	err := cmp.Or(
		rt.api.call(fnGetTensorElementType, uintptr(info), uintptr(unsafe.Pointer(&typ))),
		rt.api.call(fnGetDimensionsCount, uintptr(info), uintptr(unsafe.Pointer(&n))))
	if err != nil {
		return 0, nil, err
	}
	shape := make([]int64, n)
	err = rt.api.call(fnGetDimensions, uintptr(info), uintptr(unsafe.Pointer(unsafe.SliceData(shape))), uintptr(n))
	return typ, shape, err
}

// Close frees the tensor. It may be called more than once, and on nil.
func (v *Value) Close() {
	if v == nil || v.p == nil {
		return
	}
	v.rt.api.release(fnReleaseValue, v.p)
	v.p, v.data = nil, nil
	v.rt.live.Add(-1)
}
