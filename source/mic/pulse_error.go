package mic

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"

	"github.com/jfreymuth/pulse/proto"

	"github.com/hearken-dev/hearken"
)

// dialError explains why none of the tried sound servers could be reached, or why
// one stopped responding.
func dialError(err error, tried []address) error {
	var where []string
	for _, a := range tried {
		where = append(where, a.addr)
	}
	looked := strings.Join(where, ", ")
	server := "The sound server"
	if looked != "" {
		server += " at " + looked
	}
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, os.ErrPermission), errors.Is(err, proto.ErrAccessDenied), errors.Is(err, proto.ErrNoAuthenticationKey):
		return hearken.Errorf(hearken.Forbidden, "The sound server refuses this user (%w).", err).
			WithTry("run hearken as the logged-in user, not as root or with sudo. For a server on another computer, set PULSE_COOKIE to a copy of its cookie file")
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return hearken.Errorf(hearken.NotFound, "No sound server is running; looked for one at %s (%w).", looked, err).
			WithTry("on a desktop: systemctl --user start pipewire-pulse, or pulseaudio --start; if neither is installed: apt install pipewire-pulse wireplumber. In a container or as another user, set PULSE_SERVER to the server's socket")
	}
	return hearken.Errorf(hearken.NotFound, "%s does not answer (%w).", server, err).
		WithTry("restart it: systemctl --user restart pipewire-pulse, or pulseaudio --kill and pulseaudio --start; check PULSE_SERVER if it is set")
}

// streamError explains why a device gave no stream.
func streamError(track int, t target, err error) error {
	what := strings.ToLower(trackTitles[track])
	switch {
	case errors.Is(err, proto.ErrAccessDenied):
		return hearken.Errorf(hearken.Forbidden, "The sound server does not allow capturing the %s (%w).", what, err).
			WithTry("allow it in the system's privacy settings, or start hearken outside its sandbox")
	case errors.Is(err, proto.ErrDeviceOrEesourceBusy), errors.Is(err, proto.ErrInputOutputError), errors.Is(err, proto.ErrBadState):
		return hearken.Errorf(hearken.Busy, "Another program is using %s (%w).", t.title, err).
			WithTry("close the program that uses it directly, or choose another device")
	}
	return hearken.Errorf(hearken.NotFound, "%s cannot be captured (%w).", t.title, err)
}
