package mic

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/hearken-dev/hearken"
)

// An endpoint is a Windows audio device.
type endpoint struct {
	device *object
	id     string
	title  string
}

// flows are the directions of the tracks' devices: system audio is captured from
// outputs.
var flows = [...]uintptr{microphoneTrack: 1, systemTrack: 0}

// Methods of IMMDeviceEnumerator, IMMDeviceCollection, IMMDevice and
// IPropertyStore.
const (
	enumeratorList    = 3
	enumeratorDefault = 4
	collectionCount   = 3
	collectionItem    = 4
	deviceActivate    = 3
	deviceProperties  = 4
	deviceID          = 5
	propertiesGet     = 5
)

// pickEndpoint finds the device of a track: by its id, its title, or as the
// default. The caller releases it.
func pickEndpoint(enumerator *object, track int, name string) (*endpoint, error) {
	if name == "" {
		return defaultEndpoint(enumerator, track)
	}
	all, err := listEndpoints(enumerator, track)
	if err != nil {
		return nil, err
	}
	var found *endpoint
	var names []string
	for _, e := range all {
		if found == nil && (e.id == name || strings.EqualFold(e.title, name)) {
			found = e
			continue
		}
		names = append(names, e.title)
		e.device.release()
	}
	if found == nil {
		return nil, noDevice(track, name, names)
	}
	return found, nil
}

func defaultEndpoint(enumerator *object, track int) (*endpoint, error) {
	var device *object
	err := enumerator.call(enumeratorDefault, flows[track], 0, uintptr(unsafe.Pointer(&device)))
	if errors.Is(err, notFound) {
		what := "there is no microphone."
		if track == systemTrack {
			what = "there is no output device."
		}
		return nil, hearken.Errorf(hearken.NotFound, "%s", what).WithTry("connect one, or enable one in the sound settings")
	}
	if err != nil {
		return nil, fmt.Errorf("ask for the default device: %w", err)
	}
	return describe(device)
}

// listEndpoints lists the usable devices of a track.
func listEndpoints(enumerator *object, track int) ([]*endpoint, error) {
	const active = 1
	var collection *object
	if err := enumerator.call(enumeratorList, flows[track], active, uintptr(unsafe.Pointer(&collection))); err != nil {
		return nil, fmt.Errorf("list sound devices: %w", err)
	}
	defer collection.release()
	var count uint32
	if err := collection.call(collectionCount, uintptr(unsafe.Pointer(&count))); err != nil {
		return nil, fmt.Errorf("count sound devices: %w", err)
	}
	var all []*endpoint
	for i := range count {
		var device *object
		if collection.call(collectionItem, uintptr(i), uintptr(unsafe.Pointer(&device))) != nil {
			continue // it has gone meanwhile
		}
		if e, err := describe(device); err == nil {
			all = append(all, e)
		}
	}
	return all, nil
}

// describe reads a device's names, and releases it if it has none.
func describe(device *object) (*endpoint, error) {
	var id *uint16
	if err := device.call(deviceID, uintptr(unsafe.Pointer(&id))); err != nil {
		device.release()
		return nil, fmt.Errorf("ask for a device's id: %w", err)
	}
	defer windows.CoTaskMemFree(unsafe.Pointer(id))
	e := &endpoint{device: device, id: windows.UTF16PtrToString(id)}
	e.title = cmp.Or(friendlyName(device), e.id)
	return e, nil
}

// A propertyKey names a property; a variant is its value.
type propertyKey struct {
	format windows.GUID
	id     uint32
}

type variant struct {
	kind uint16
	_    [3]uint16
	text *uint16
	_    uintptr
}

var friendlyNameKey = propertyKey{windows.GUID{Data1: 0xA45C254E, Data2: 0xDF1C, Data3: 0x4EFD,
	Data4: [8]byte{0x80, 0x20, 0x67, 0xD1, 0x46, 0xA8, 0x50, 0xE0}}, 14}

func friendlyName(device *object) string {
	var properties *object
	if device.call(deviceProperties, 0, uintptr(unsafe.Pointer(&properties))) != nil {
		return ""
	}
	defer properties.release()
	const isText = 31
	var v variant
	if properties.call(propertiesGet, uintptr(unsafe.Pointer(&friendlyNameKey)), uintptr(unsafe.Pointer(&v))) != nil || v.kind != isText || v.text == nil {
		return ""
	}
	defer windows.CoTaskMemFree(unsafe.Pointer(v.text))
	return windows.UTF16PtrToString(v.text)
}
