package onnx

import "unsafe"

// options makes the library's own options of ours. What it returns must be
// released, also beside an error.
func (rt *Runtime) options(o Options) (unsafe.Pointer, error) {
	const disableAll, enableAll = 0, 99
	var p unsafe.Pointer
	if err := rt.api.call(fnCreateSessionOptions, uintptr(unsafe.Pointer(&p))); err != nil {
		return nil, err
	}
	level := uintptr(enableAll)
	if o.AsIs {
		level = disableAll
	}
	for _, set := range []struct {
		f     function
		value uintptr
	}{
		{fnSetIntraOpNumThreads, uintptr(max(o.Threads, 1))},
		{fnSetInterOpNumThreads, 1},
		{fnSetGraphOptimizationLevel, level},
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
	for _, file := range []struct {
		f    function
		path string
	}{
		{fnSetOptimizedModelFilePath, o.Optimized},
		{fnEnableProfiling, o.Profile},
	} {
		if file.path == "" {
			continue
		}
		c, err := cPath(file.path)
		if err != nil {
			return p, err
		}
		if err := rt.api.call(file.f, uintptr(p), uintptr(c)); err != nil {
			return p, err
		}
		keep(c)
	}
	if o.Shared != nil {
		return p, o.Shared.apply(p)
	}
	return p, nil
}

func (rt *Runtime) configure(options unsafe.Pointer, key, value string) error {
	k, v := cString(key), cString(value)
	defer keep(k, v)
	return rt.api.call(fnAddSessionConfigEntry, uintptr(options), uintptr(unsafe.Pointer(k)), uintptr(unsafe.Pointer(v)))
}
