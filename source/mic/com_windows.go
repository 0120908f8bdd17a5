package mic

import (
	"fmt"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// The small part of COM that Windows audio needs. An object is a pointer to a
// table of methods; the first three are always the same.

type object struct{ methods *[15]uintptr }

const methodRelease = 2

// call calls a method by its index in the table. Callers convert pointer arguments
// in the call itself, so that the values they point to stay alive.
//
//go:uintptrescapes
func (o *object) call(method int, args ...uintptr) error {
	r, _, _ := syscall.SyscallN(o.methods[method], append([]uintptr{uintptr(unsafe.Pointer(o))}, args...)...)
	return result(r)
}

func (o *object) release() {
	if o != nil {
		_ = o.call(methodRelease)
	}
}

// An hresult is a COM error code.
type hresult uint32

const (
	accessDenied    hresult = 0x80070005
	notFound        hresult = 0x80070490
	deviceInUse     hresult = 0x8889000A
	exclusiveOnly   hresult = 0x8889000E
	serviceNotReady hresult = 0x88890010
)

func (h hresult) Error() string { return fmt.Sprintf("HRESULT %#08x", uint32(h)) }

// result returns an error if a call failed; several values mean success.
func result(r uintptr) error {
	if h := hresult(r); int32(h) < 0 {
		return h
	}
	return nil
}

var coCreateInstance = windows.NewLazySystemDLL("ole32.dll").NewProc("CoCreateInstance")

const anyContext = 23 // in this process or another

// withEnumerator runs f with the device enumerator, on a thread of its own.
func withEnumerator(do func(enumerator *object) error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := windows.CoInitializeEx(0, windows.COINIT_MULTITHREADED); err != nil && err != syscall.Errno(1) { // 1: it is already
		return fmt.Errorf("start COM: %w", err)
	}
	defer windows.CoUninitialize()
	var enumerator *object
	r, _, _ := coCreateInstance.Call(uintptr(unsafe.Pointer(&enumeratorClass)), 0, anyContext, uintptr(unsafe.Pointer(&enumeratorInterface)), uintptr(unsafe.Pointer(&enumerator)))
	if err := result(r); err != nil {
		return fmt.Errorf("list sound devices: %w", err)
	}
	defer enumerator.release()
	return do(enumerator)
}

var (
	enumeratorClass     = windows.GUID{Data1: 0xBCDE0395, Data2: 0xE52F, Data3: 0x467C, Data4: [8]byte{0x8E, 0x3D, 0xC4, 0x57, 0x92, 0x91, 0x69, 0x2E}}
	enumeratorInterface = windows.GUID{Data1: 0xA95664D2, Data2: 0x9614, Data3: 0x4F35, Data4: [8]byte{0xA7, 0x46, 0xDE, 0x8D, 0xB6, 0x36, 0x17, 0xE6}}
	clientInterface     = windows.GUID{Data1: 0x1CB9AD4C, Data2: 0xDBFA, Data3: 0x4C32, Data4: [8]byte{0xB1, 0x78, 0xC2, 0xF5, 0x68, 0xA7, 0x03, 0xB2}}
	captureInterface    = windows.GUID{Data1: 0xC8ADBD64, Data2: 0xE71E, Data3: 0x48A0, Data4: [8]byte{0xA4, 0xDE, 0x18, 0x5C, 0x39, 0x5C, 0xD3, 0x17}}
)
