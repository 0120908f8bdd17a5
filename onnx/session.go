package onnx

import (
	"fmt"
	"unsafe"
)

// Options say how a model is loaded. The zero value is fastest on a shared
// machine: one thread, no spinning, all graph optimizations.
type Options struct {
	Threads int // for one run; 0 is one

	// Profile is the prefix of a file to which the time of every operation is
	// written when the session is closed; empty for none.
	Profile string
}

// A Port is an input or output of a model. A dimension that the model leaves
// open is -1.
type Port struct {
	Name  string
	Type  Type
	Shape []int64
}

// A Session is a loaded model. It may run in several goroutines at once.
type Session struct {
	rt      *Runtime
	p       unsafe.Pointer
	inputs  []Port
	outputs []Port
	names   map[string]*byte // of all ports, as C wants them
}

// Open loads a model from a file.
func (rt *Runtime) Open(path string, o Options) (*Session, error) {
	p, err := cPath(path)
	if err != nil {
		return nil, err
	}
	defer keepAlive(p)
	return rt.open(o, func(options unsafe.Pointer, out *unsafe.Pointer) error {
		return rt.api.call(fnCreateSession, uintptr(rt.env), uintptr(p), uintptr(options), uintptr(unsafe.Pointer(out)))
	})
}

// Load loads a model from memory. The bytes are not needed afterwards.
func (rt *Runtime) Load(model []byte, o Options) (*Session, error) {
	if len(model) == 0 {
		return nil, fmt.Errorf("load model: no bytes")
	}
	defer keepAlive(model)
	return rt.open(o, func(options unsafe.Pointer, out *unsafe.Pointer) error {
		return rt.api.call(fnCreateSessionFromArray, uintptr(rt.env), uintptr(unsafe.Pointer(&model[0])), uintptr(len(model)), uintptr(options), uintptr(unsafe.Pointer(out)))
	})
}

func (rt *Runtime) open(o Options, create func(options unsafe.Pointer, out *unsafe.Pointer) error) (*Session, error) {
	options, err := rt.options(o)
	defer rt.api.release(fnReleaseSessionOptions, options)
	if err != nil {
		return nil, err
	}
	s := &Session{rt: rt, names: make(map[string]*byte)}
	if err := create(options, &s.p); err != nil {
		return nil, err
	}
	rt.live.Add(1)
	if s.inputs, err = s.ports(fnSessionGetInputCount, fnSessionGetInputName, fnSessionGetInputTypeInfo); err == nil {
		s.outputs, err = s.ports(fnSessionGetOutputCount, fnSessionGetOutputName, fnSessionGetOutputTypeInfo)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// ports reads the model's inputs or outputs.
func (s *Session) ports(count, name, info function) ([]Port, error) {
	var n uint64
	if err := s.rt.api.call(count, uintptr(s.p), uintptr(unsafe.Pointer(&n))); err != nil {
		return nil, err
	}
	ports := make([]Port, n)
	for i := range ports {
		var c, typ, tensor unsafe.Pointer
		if err := s.rt.api.call(name, uintptr(s.p), uintptr(i), uintptr(s.rt.allocator), uintptr(unsafe.Pointer(&c))); err != nil {
			return nil, err
		}
		ports[i].Name = goString(c)
		s.names[ports[i].Name] = cString(ports[i].Name)
		if err := s.rt.api.call(fnAllocatorFree, uintptr(s.rt.allocator), uintptr(c)); err != nil {
			return nil, err
		}
		if err := s.rt.api.call(info, uintptr(s.p), uintptr(i), uintptr(unsafe.Pointer(&typ))); err != nil {
			return nil, err
		}
		err := s.rt.api.call(fnCastTypeInfoToTensorInfo, uintptr(typ), uintptr(unsafe.Pointer(&tensor)))
		if err == nil && tensor != nil {
			ports[i].Type, ports[i].Shape, err = s.rt.tensorInfo(tensor)
		}
		s.rt.api.release(fnReleaseTypeInfo, typ)
		if err != nil {
			return nil, err
		}
	}
	return ports, nil
}

// Inputs are the model's inputs in its own order.
func (s *Session) Inputs() []Port { return s.inputs }

// Outputs are the model's outputs in its own order.
func (s *Session) Outputs() []Port { return s.outputs }

// Input finds an input by its name.
func (s *Session) Input(name string) (Port, bool) { return find(s.inputs, name) }

// Output finds an output by its name.
func (s *Session) Output(name string) (Port, bool) { return find(s.outputs, name) }

func find(ports []Port, name string) (Port, bool) {
	for _, p := range ports {
		if p.Name == name {
			return p, true
		}
	}
	return Port{}, false
}

// Close frees the session. No call of it may be running.
func (s *Session) Close() {
	if s == nil || s.p == nil {
		return
	}
	s.rt.api.release(fnReleaseSession, s.p)
	s.p = nil
	s.rt.live.Add(-1)
}
