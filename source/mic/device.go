package mic

import (
	"errors"
	"strings"

	"github.com/hearken-dev/hearken"
)

// noDevice says that there is no device of a name, and which there are.
func noDevice(lane int, name string, there []string) error {
	kind := "input"
	if lane == systemLane {
		kind = "output"
	}
	err := hearken.Errorf(hearken.NotFound, "There is no %s device %q.", kind, name)
	if len(there) == 0 {
		return err.WithTry("plug one in; there is none now")
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

// optional reports whether a lane may be missing at the start: it was not
// named, and is what the computer plays, or a microphone that is not there. A
// microphone that refuses is what people must hear of first.
func optional(lane int, name string, err error) bool {
	return name == "" && (lane == systemLane || hearken.CodeOf(err) == hearken.NotFound)
}
