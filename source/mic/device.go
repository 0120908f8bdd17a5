package mic

import (
	"errors"
	"strings"

	"github.com/hearken-dev/hearken"
)

// noDevice says that there is no device of a name, and which there are.
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

// nothing says that there is no device at all, for the given reason.
func nothing(why error) error {
	e, ok := errors.AsType[*hearken.Error](why)
	if !ok {
		return why
	}
	return &hearken.Error{Code: e.Code, Message: "Nothing can be captured: " + e.Message, Try: e.Try, Err: e}
}

// plain is an error's sentence without what to try.
func plain(err error) string {
	if e, ok := errors.AsType[*hearken.Error](err); ok {
		return e.Message
	}
	return err.Error() + "."
}

// optional reports whether a track may be missing at the start: it was not
// named, and is what the computer plays, or a microphone that is not there. A
// microphone that refuses is what people must hear of first.
func optional(track int, name string, err error) bool {
	return name == "" && (track == systemTrack || hearken.CodeOf(err) == hearken.NotFound)
}
