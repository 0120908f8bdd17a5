package onnx

import "unsafe"

// options makes the library's own options. The result must be released, even if
// there is an error too.
func (rt *Runtime) options(o Options) (unsafe.Pointer, error) {
	const allOptimizations = 99
	var p unsafe.Pointer
	if err := rt.api.call(fnCreateSessionOptions, uintptr(unsafe.Pointer(&p))); err != nil {
		return nil, err
	}
	for _, set := range []struct {
		f     function
		value uintptr
	}{
		{fnSetIntraOpNumThreads, uintptr(max(o.Threads, 1))},
		{fnSetInterOpNumThreads, 1},
		{fnSetGraphOptimizationLevel, allOptimizations},
	} {
		if err := rt.api.call(set.f, uintptr(p), set.value); err != nil {
			return p, err
		}
	}
	for _, entry := range [][2]string{
		// Threads that wait by spinning take the processor from other streams.
		{"session.intra_op.allow_spinning", "0"},
		// Weights are int8: exact on every processor only if the ones without
		// VNNI use the slower product that cannot overflow.
		{"session.x64quantprecision", "1"},
	} {
		if err := rt.configure(p, entry[0], entry[1]); err != nil {
			return p, err
		}
	}
	if o.Profile == "" {
		return p, nil
	}
	c, err := cPath(o.Profile)
	if err != nil {
		return p, err
	}
	defer keepAlive(c)
	return p, rt.api.call(fnEnableProfiling, uintptr(p), uintptr(c))
}

func (rt *Runtime) configure(options unsafe.Pointer, key, value string) error {
	k, v := cString(key), cString(value)
	defer keepAlive(k, v)
	return rt.api.call(fnAddSessionConfigEntry, uintptr(options), uintptr(unsafe.Pointer(k)), uintptr(unsafe.Pointer(v)))
}
