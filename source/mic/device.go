package mic

import (
	"errors"
	"strings"

	"github.com/hearken-dev/hearken"
)

// noDevice returns an error that names the existing devices.
func noDevice(track int, name string, there []string) error {
	kind := "input"
	if track == systemTrack {
		kind = "output"
	}
	err := hearken.Errorf(hearken.NotFound, "There is no %s device %q.", kind, name)
	if len(there) == 0 {
		return err.WithTry("connect one; there is none now")
	}
	return err.WithTry("one of: %s", strings.Join(there, ", "))
}

// nothingToCapture returns an error for a computer without any usable device.
func nothingToCapture(why error) error {
	e, ok := errors.AsType[*hearken.Error](why)
	if !ok {
		return why
	}
	return &hearken.Error{Code: e.Code, Message: "Nothing can be captured: " + e.Message, Try: e.Try, Err: e}
}

// sentence returns an error's message without its advice.
func sentence(err error) string {
	if e, ok := errors.AsType[*hearken.Error](err); ok {
		return e.Message
	}
	return err.Error() + "."
}

// optional reports whether a track may be missing at the start: system audio, or a
// microphone that does not exist, if it was not named. A microphone that refuses
// is an error.
func optional(track int, name string, err error) bool {
	return name == "" && (track == systemTrack || hearken.CodeOf(err) == hearken.NotFound)
}
