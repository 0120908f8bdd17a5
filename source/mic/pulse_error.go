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

// dialError says why no sound server was reached, of those that were tried, or
// why one that was reached does not answer any more.
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
		return hearken.Errorf(hearken.Forbidden, "The sound server does not let this user in (%w).", err).
			WithTry("run hearken as the user who is logged in, not as root or by sudo; for a server elsewhere set PULSE_COOKIE to a copy of its cookie file")
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return hearken.Errorf(hearken.NotFound, "No sound server is running; looked for one at %s (%w).", looked, err).
			WithTry("on a desktop: systemctl --user start pipewire-pulse, or pulseaudio --start; if neither is installed: apt install pipewire-pulse wireplumber. In a container or under another user set PULSE_SERVER to the server's socket")
	}
	return hearken.Errorf(hearken.NotFound, "%s does not answer (%w).", server, err).
		WithTry("restart it: systemctl --user restart pipewire-pulse, or pulseaudio --kill and pulseaudio --start; look at PULSE_SERVER if it is set")
}

// streamError says why a device gave no stream.
func streamError(lane int, t target, err error) error {
	what := strings.ToLower(laneTitles[lane])
	switch {
	case errors.Is(err, proto.ErrAccessDenied):
		return hearken.Errorf(hearken.Forbidden, "The sound server does not allow to capture the %s (%w).", what, err).
			WithTry("allow it in the system's privacy settings, or start hearken outside of its sandbox")
	case errors.Is(err, proto.ErrDeviceOrEesourceBusy), errors.Is(err, proto.ErrInputOutputError), errors.Is(err, proto.ErrBadState):
		return hearken.Errorf(hearken.Busy, "%s is taken by another program (%w).", t.title, err).
			WithTry("end the program that uses it without the sound server, or name another device")
	}
	return hearken.Errorf(hearken.NotFound, "%s cannot be captured (%w).", t.title, err)
}
