package onnx

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// loadLibrary loads a shared library and finds the symbol that leads to all others.
// What the library needs is searched in its own directory, not in the current
// one.
func loadLibrary(path string) (getAPIBase uintptr, err error) {
	lib, err := windows.LoadLibraryEx(path, 0,
		windows.LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR|windows.LOAD_LIBRARY_SEARCH_DEFAULT_DIRS)
	if err != nil {
		return 0, err
	}
	return windows.GetProcAddress(lib, "OrtGetApiBase")
}

// cPath makes a path in the form that the library needs: UTF-16 here.
func cPath(path string) (unsafe.Pointer, error) {
	p, err := windows.UTF16PtrFromString(path)
	return unsafe.Pointer(p), err
}
