package onnx

import (
	"cmp"
	"slices"
	"unsafe"
)

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
func (rt *Runtime) Open(path string) (*Session, error) {
	options, err := rt.options()
	defer rt.api.release(fnReleaseSessionOptions, options)
	if err != nil {
		return nil, err
	}
	file, err := cPath(path)
	if err != nil {
		return nil, err
	}
	defer keepAlive(file)
	s := &Session{rt: rt, names: make(map[string]*byte)}
	if err := rt.api.call(fnCreateSession, uintptr(rt.env), uintptr(file), uintptr(options), uintptr(unsafe.Pointer(&s.p))); err != nil {
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

// options makes the library's options for what is fastest on a shared machine:
// one thread, no spinning, all graph optimizations. The result must be
// released, even if there is an error too.
func (rt *Runtime) options() (unsafe.Pointer, error) {
	const allOptimizations = 99
	var p unsafe.Pointer
	if err := rt.api.call(fnCreateSessionOptions, uintptr(unsafe.Pointer(&p))); err != nil {
		return nil, err
	}
	return p, cmp.Or(
		rt.api.call(fnSetIntraOpNumThreads, uintptr(p), 1),
		rt.api.call(fnSetInterOpNumThreads, uintptr(p), 1),
		rt.api.call(fnSetGraphOptimizationLevel, uintptr(p), allOptimizations),
		// Threads that wait by spinning take the processor from other streams.
		rt.configure(p, "session.intra_op.allow_spinning", "0"),
		// Weights are int8: exact on every processor only if the ones without
		// VNNI use the slower product that cannot overflow.
		rt.configure(p, "session.x64quantprecision", "1"),
	)
}

func (rt *Runtime) configure(options unsafe.Pointer, key, value string) error {
	k, v := cString(key), cString(value)
	defer keepAlive(k, v)
	return rt.api.call(fnAddSessionConfigEntry, uintptr(options), uintptr(unsafe.Pointer(k)), uintptr(unsafe.Pointer(v)))
}

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

// Input finds an input by its name.
func (s *Session) Input(name string) (Port, bool) { return find(s.inputs, name) }

// Output finds an output by its name.
func (s *Session) Output(name string) (Port, bool) { return find(s.outputs, name) }

func find(ports []Port, name string) (Port, bool) {
	i := slices.IndexFunc(ports, func(p Port) bool { return p.Name == name })
	if i < 0 {
		return Port{}, false
	}
	return ports[i], true
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
