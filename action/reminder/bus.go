package reminder

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/godbus/dbus/v5"

	"github.com/hearken-dev/hearken"
)

// Names of the desktop notifications specification.
const (
	service = "org.freedesktop.Notifications"
	object  = "/org/freedesktop/Notifications"
)

// critical is the urgency of what stays on the screen until it was seen.
const critical = byte(2)

// markup escapes what a server would take for tags and links.
var markup = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// overBus shows a notice with whatever shows them in the owner's session.
func (d *Desktop) overBus(ctx context.Context, title, text string) hearken.Outcome {
	address := d.address()
	if address == "" {
		return permanent("There is no desktop session on this computer.")
	}
	conn, err := dbus.Connect(address, dbus.WithContext(ctx))
	if err != nil {
		if ctx.Err() != nil {
			return hearken.Outcome{Result: hearken.ResultTemporary, Message: "The desktop session does not answer."}
		}
		return permanent("The desktop session cannot be reached.")
	}
	defer conn.Close()
	screen := conn.Object(service, object)
	var can []string
	if err := screen.CallWithContext(ctx, service+".GetCapabilities", 0).Store(&can); err != nil {
		return refused(err, hearken.ResultTemporary)
	}
	if slices.Contains(can, "body-markup") {
		text = markup.Replace(text)
	}
	hints := map[string]dbus.Variant{"urgency": dbus.MakeVariant(critical), "sound-name": dbus.MakeVariant("alarm-clock-elapsed")}
	const neverExpires = int32(0)
	var id uint32
	err = screen.CallWithContext(ctx, service+".Notify", 0,
		"Hearken", uint32(0), "", title, text, []string{}, hints, neverExpires).Store(&id)
	if err != nil {
		return refused(err, hearken.ResultUnknown)
	}
	return hearken.Outcome{Result: hearken.ResultOK, Receipt: strconv.FormatUint(uint64(id), 10)}
}

// address is where the owner's session bus listens; empty if there is none. A
// hub that was started outside of the session finds it where systemd puts it.
// The library would start a bus of its own, to which nobody listens.
func (d *Desktop) address() string {
	if address := d.getenv("DBUS_SESSION_BUS_ADDRESS"); address != "" {
		return address
	}
	dir := d.getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		dir = "/run/user/" + strconv.Itoa(d.uid)
	}
	path := dir + "/bus"
	if info, err := os.Stat(path); err != nil || info.Mode().Type() != os.ModeSocket {
		return ""
	}
	return "unix:path=" + dbus.EscapeBusAddressValue(path)
}

// refused is the outcome of a call that failed. Who answered with an error did
// not do it; where nothing was answered, silent says what that means.
func refused(err error, silent hearken.Result) hearken.Outcome {
	e, answered := errors.AsType[dbus.Error](err)
	if !answered {
		return hearken.Outcome{Result: silent, Message: "What shows notices on the desktop did not answer."}
	}
	switch name := strings.TrimPrefix(e.Name, "org.freedesktop.DBus.Error."); {
	case name == "NoReply" || name == "Timeout" || name == "TimedOut" || name == "Disconnected":
		return hearken.Outcome{Result: silent, Message: "What shows notices on the desktop did not answer."}
	case name == "ServiceUnknown" || name == "NameHasNoOwner" || strings.HasPrefix(name, "Spawn."):
		return permanent("Nothing shows notices in the desktop session.")
	case name == "LimitsExceeded" || strings.HasSuffix(name, ".ExcessNotificationGeneration"):
		return hearken.Outcome{Result: hearken.ResultTemporary, Message: "The desktop shows too many notices already."}
	}
	return permanent("The desktop refused to show the notice.")
}

func permanent(message string) hearken.Outcome {
	return hearken.Outcome{Result: hearken.ResultPermanent, Message: message}
}
