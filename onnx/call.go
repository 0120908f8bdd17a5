package onnx

import (
	"fmt"
	"unsafe"
)

// A Call is a prepared run of a session: some inputs, some outputs. It is
// reused from run to run, used by one goroutine at a time, and must be closed.
type Call struct {
	s        *Session
	inNames  []*byte
	outNames []*byte
	in       []unsafe.Pointer
	out      []unsafe.Pointer
	given    []bool // outputs that are the caller's own, not ours to free
}

// NewCall prepares a run that takes the named inputs and wants the named
// outputs.
func (s *Session) NewCall(inputs, outputs []string) (*Call, error) {
	c := &Call{s: s,
		in: make([]unsafe.Pointer, len(inputs)), out: make([]unsafe.Pointer, len(outputs)), given: make([]bool, len(outputs))}
	for _, n := range inputs {
		if _, ok := s.Input(n); !ok {
			return nil, fmt.Errorf("model has no input %q", n)
		}
		c.inNames = append(c.inNames, s.names[n])
	}
	for _, n := range outputs {
		if _, ok := s.Output(n); !ok {
			return nil, fmt.Errorf("model has no output %q", n)
		}
		c.outNames = append(c.outNames, s.names[n])
	}
	return c, nil
}

// SetInput gives the value for an input, which stays until it is set again.
// The caller keeps the value open until the run is over.
func (c *Call) SetInput(i int, v *Value) { c.in[i] = v.p }

// SetOutput gives a tensor of the right shape to write an output into. Nil, as
// at first, lets the library make one in each run.
func (c *Call) SetOutput(i int, v *Value) {
	c.free(i)
	c.out[i], c.given[i] = nil, v != nil
	if v != nil {
		c.out[i] = v.p
	}
}

// Run runs the model. It frees results of the run before that were not taken.
func (c *Call) Run() error {
	for i := range c.out {
		c.free(i)
	}
	err := c.s.rt.api.call(fnRun, uintptr(c.s.p), 0,
		uintptr(unsafe.Pointer(unsafe.SliceData(c.inNames))), uintptr(unsafe.Pointer(unsafe.SliceData(c.in))), uintptr(len(c.in)),
		uintptr(unsafe.Pointer(unsafe.SliceData(c.outNames))), uintptr(len(c.out)), uintptr(unsafe.Pointer(unsafe.SliceData(c.out))))
	for i, p := range c.out {
		if !c.given[i] && p != nil {
			c.s.rt.live.Add(1)
		}
	}
	return err
}

// Take returns a result that the library made in the last run; the caller
// closes it. It is nil if there was none or if it was taken before.
func (c *Call) Take(i int) *Value {
	if c.given[i] || c.out[i] == nil {
		return nil
	}
	v := &Value{rt: c.s.rt, p: c.out[i]}
	c.out[i] = nil
	return v
}

// Close frees results that were not taken.
func (c *Call) Close() {
	if c == nil {
		return
	}
	for i := range c.out {
		c.free(i)
	}
}

func (c *Call) free(i int) {
	if c.given[i] || c.out[i] == nil {
		return
	}
	c.s.rt.api.release(fnReleaseValue, c.out[i])
	c.out[i] = nil
	c.s.rt.live.Add(-1)
}
