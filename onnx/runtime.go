package onnx

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/cpu"

	"github.com/hearken-dev/hearken"
)

// oldest is the first release with our version of the function table.
const oldest = "1.24"

// A Runtime is a loaded library with its environment.
type Runtime struct {
	api       *table
	env       unsafe.Pointer
	allocator unsafe.Pointer // the default one; not ours to release

	live atomic.Int64 // values and sessions that were not closed
}

// Open loads the library at path. The error is a [*hearken.Error] that says
// what is wrong with the library and how to fix it.
func Open(path string) (*Runtime, error) {
	if err := checkLibrary(path); err != nil {
		return nil, err
	}
	base, err := loadLibrary(path)
	if err != nil {
		return nil, libraryError("The library %s cannot be loaded on %s/%s: %w.", path, runtime.GOOS, runtime.GOARCH, err)
	}
	addr, _, _ := purego.SyscallN(base)
	// OrtApiBase holds two functions: GetApi(version) and GetVersionString().
	functions := (*[2]uintptr)(pointerFrom(addr))
	name, _, _ := purego.SyscallN(functions[1])
	version := goString(pointerFrom(name))
	if !supported(version) {
		return nil, libraryError("The library %s is ONNX Runtime %s; %s or a later 1.x is needed.", path, version, oldest)
	}
	api, _, _ := purego.SyscallN(functions[0], apiVersion)
	if api == 0 {
		return nil, libraryError("The library %s is ONNX Runtime %s and has no API of version %d.", path, version, apiVersion)
	}
	rt := &Runtime{api: (*table)(pointerFrom(api))}
	if err := rt.setUp(); err != nil {
		rt.Close()
		return nil, libraryError("ONNX Runtime %s at %s does not start: %w.", version, path, err)
	}
	return rt, nil
}

func (rt *Runtime) setUp() error {
	const fatal = 4 // errors are returned to the caller, not logged
	name := cString("hearken")
	defer keepAlive(name)
	if err := rt.api.call(fnCreateEnv, fatal, uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(&rt.env))); err != nil {
		return err
	}
	if err := rt.api.call(fnDisableTelemetryEvents, uintptr(rt.env)); err != nil {
		return err
	}
	return rt.api.call(fnGetAllocatorWithDefaultOptions, uintptr(unsafe.Pointer(&rt.allocator)))
}

// Live is the number of sessions and values that were made and not closed.
func (rt *Runtime) Live() int { return int(rt.live.Load()) }

// Close ends the environment. Sessions and values must have been closed before.
// The library itself stays in memory until the program ends.
func (rt *Runtime) Close() {
	rt.api.release(fnReleaseEnv, rt.env)
	rt.env = nil
}

// checkLibrary finds what is wrong before the library is loaded: loading one that the
// processor cannot run would end the program.
func checkLibrary(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return libraryError("The ONNX Runtime library is missing: there is no %s.", path)
	case err != nil:
		return libraryError("The ONNX Runtime library cannot be read: %w.", err)
	case info.IsDir():
		return libraryError("The ONNX Runtime library cannot be read: %s is a directory.", path)
	}
	if runtime.GOARCH == "amd64" && !cpu.X86.HasAVX {
		return hearken.Errorf(hearken.ProviderNotConfigured,
			"This processor has no AVX, which the offline engine needs.").WithTry("another provider")
	}
	return nil
}

// supported reports whether a version such as "1.28.2" is at least the oldest.
func supported(version string) bool {
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(minor)
	return err == nil && major == "1" && n >= apiVersion
}

func libraryError(format string, args ...any) *hearken.Error {
	return hearken.Errorf(hearken.ProviderNotConfigured, format, args...).WithTry("hearken models pull")
}

// LibraryName is the name of the library's file on this system.
func LibraryName() string {
	switch runtime.GOOS {
	case "windows":
		return "onnxruntime.dll"
	case "darwin":
		return "libonnxruntime.dylib"
	}
	return "libonnxruntime.so"
}

// FindLibrary returns the library's path in a directory, whatever version its
// name has. If there is none, it returns the path where it should be.
func FindLibrary(dir string) string {
	want := filepath.Join(dir, LibraryName())
	if _, err := os.Stat(want); err == nil {
		return want
	}
	stem, ext, _ := strings.Cut(LibraryName(), ".")
	found, _ := filepath.Glob(filepath.Join(dir, stem+"*"+ext+"*"))
	if len(found) > 0 {
		return found[len(found)-1]
	}
	return want
}
