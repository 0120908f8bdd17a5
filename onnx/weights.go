package onnx

import (
	"fmt"
	"unsafe"
)

// Weights are tensors that several sessions have in common. They are kept in
// memory once, and so is what kernels pack them into. They must stay open
// until all sessions that use them are closed.
type Weights struct {
	rt     *Runtime
	packed unsafe.Pointer
	names  []*byte
	values []*Value
}

// NewWeights makes an empty set.
func (rt *Runtime) NewWeights() (*Weights, error) {
	w := &Weights{rt: rt}
	if err := rt.api.call(fnCreatePrepackedWeights, uintptr(unsafe.Pointer(&w.packed))); err != nil {
		return nil, fmt.Errorf("make weights: %w", err)
	}
	rt.live.Add(1)
	return w, nil
}

// Add gives the weights a tensor, which they own from now on. In each model
// that is loaded with them it takes the place of the initializer of that name,
// which must have the same type and shape.
func (w *Weights) Add(name string, v *Value) {
	w.names = append(w.names, cString(name))
	w.values = append(w.values, v)
}

func (w *Weights) apply(options unsafe.Pointer) error {
	for i, v := range w.values {
		if err := w.rt.api.call(fnAddInitializer, uintptr(options), uintptr(unsafe.Pointer(w.names[i])), uintptr(v.p)); err != nil {
			return fmt.Errorf("share weights: %w", err)
		}
	}
	return nil
}

// container is the address that a session wants; 0 if nothing is shared.
func (w *Weights) container() uintptr {
	if w == nil {
		return 0
	}
	return uintptr(w.packed)
}

// Close frees the tensors.
func (w *Weights) Close() {
	if w == nil || w.packed == nil {
		return
	}
	for _, v := range w.values {
		v.Close()
	}
	w.rt.api.release(fnReleasePrepackedWeights, w.packed)
	w.packed, w.values = nil, nil
	w.rt.live.Add(-1)
}
