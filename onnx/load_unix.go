//go:build !windows

package onnx

import (
	"unsafe"

	"github.com/ebitengine/purego"
)

// loadLibrary loads a shared library and finds the symbol that leads to all others.
// The library stays loaded until the program ends: its threads and static
// objects do not survive being unloaded.
func loadLibrary(path string) (getAPIBase uintptr, err error) {
	lib, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return 0, err
	}
	return purego.Dlsym(lib, "OrtGetApiBase")
}

// cPath makes a path in the form that the library needs.
func cPath(path string) (unsafe.Pointer, error) { return unsafe.Pointer(cString(path)), nil }
