package onnx

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// apiVersion is the version of the function table that we ask for. The table
// only ever grows, so every library from this release on has it.
const apiVersion = 24

// A function is an index in the C API's table of functions.
type function int

// The functions that we use.
const (
	fnGetErrorMessage                function = 2
	fnCreateEnv                      function = 3
	fnDisableTelemetryEvents         function = 6
	fnCreateSession                  function = 7
	fnRun                            function = 9
	fnCreateSessionOptions           function = 10
	fnSetGraphOptimizationLevel      function = 23
	fnSetIntraOpNumThreads           function = 24
	fnSetInterOpNumThreads           function = 25
	fnSessionGetInputCount           function = 30
	fnSessionGetOutputCount          function = 31
	fnSessionGetInputTypeInfo        function = 33
	fnSessionGetOutputTypeInfo       function = 34
	fnSessionGetInputName            function = 36
	fnSessionGetOutputName           function = 37
	fnCreateTensorAsOrtValue         function = 48
	fnGetTensorMutableData           function = 51
	fnCastTypeInfoToTensorInfo       function = 55
	fnGetTensorElementType           function = 60
	fnGetDimensionsCount             function = 61
	fnGetDimensions                  function = 62
	fnGetTensorTypeAndShape          function = 65
	fnAllocatorFree                  function = 76
	fnGetAllocatorWithDefaultOptions function = 78
	fnReleaseEnv                     function = 92
	fnReleaseStatus                  function = 93
	fnReleaseSession                 function = 95
	fnReleaseValue                   function = 96
	fnReleaseTypeInfo                function = 98
	fnReleaseTensorTypeAndShapeInfo  function = 99
	fnReleaseSessionOptions          function = 100
	fnAddSessionConfigEntry          function = 130

	tableSize = 131
)

// A table is the C API: one pointer for each function. We need only the first
// ones.
type table [tableSize]uintptr

// call calls a function that returns a status, and makes an error of it.
//
//go:uintptrescapes
func (t *table) call(f function, args ...uintptr) error {
	status, _, _ := purego.SyscallN(t[f], args...)
	if status == 0 {
		return nil
	}
	msg, _, _ := purego.SyscallN(t[fnGetErrorMessage], status)
	err := fmt.Errorf("onnx runtime: %s", goString(pointerFrom(msg)))
	purego.SyscallN(t[fnReleaseStatus], status)
	return err
}

// release calls a function that frees p, unless it is nil.
func (t *table) release(f function, p unsafe.Pointer) {
	if p != nil {
		purego.SyscallN(t[f], uintptr(p))
	}
}

// pointerFrom makes a pointer of an address that C returned. It goes through memory
// because vet cannot know that the address is not one of Go's.
func pointerFrom(addr uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

// goString copies a string that ends with a zero byte.
func goString(p unsafe.Pointer) string {
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(p), n))
}

// cString makes a string that ends with a zero byte. The caller keeps it
// alive for as long as C looks at it.
func cString(s string) *byte {
	b := make([]byte, len(s)+1)
	copy(b, s)
	return &b[0]
}

// keepAlive is runtime.KeepAlive for several values.
func keepAlive(values ...any) { runtime.KeepAlive(values) }
