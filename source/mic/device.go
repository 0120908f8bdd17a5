package mic

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

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

// checkTracks probes the configured devices and records which they are. Probe
// returns what the notes say about a track's device. A track may be missing at
// the start if its device was not named: system audio, or a microphone that does
// not exist. A microphone that refuses is an error.
func checkTracks(cfg Config, n *notes, probe func(track int) (note string, err error)) error {
	var missing error
	found := 0
	for track := range origins {
		name := cfg.deviceName(track)
		if name == Off {
			n.captured(track, Off)
			continue
		}
		note, err := probe(track)
		switch {
		case err == nil:
			n.captured(track, note)
			found++
		case name == "" && (track == systemTrack || hearken.CodeOf(err) == hearken.NotFound):
			n.absent(track, err)
			missing = cmp.Or(missing, err)
		default:
			return err
		}
	}
	if found == 0 {
		return nothingToCapture(missing)
	}
	return nil
}

// pause waits for d or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
