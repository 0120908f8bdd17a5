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

// Names from the desktop notifications specification.
const (
	service = "org.freedesktop.Notifications"
	object  = "/org/freedesktop/Notifications"
)

// critical is the urgency of what stays on the screen until it is dismissed.
const critical = byte(2)

// markupEscaper escapes what a service would read as tags and links.
var markupEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// showOverDBus shows a notification with the service of the owner's session.
func (d *Desktop) showOverDBus(ctx context.Context, title, text string) hearken.Outcome {
	address := d.busAddress()
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
	notifications := conn.Object(service, object)
	var capabilities []string
	if err := notifications.CallWithContext(ctx, service+".GetCapabilities", 0).Store(&capabilities); err != nil {
		return callOutcome(err, hearken.ResultTemporary)
	}
	if slices.Contains(capabilities, "body-markup") {
		text = markupEscaper.Replace(text)
	}
	hints := map[string]dbus.Variant{"urgency": dbus.MakeVariant(critical), "sound-name": dbus.MakeVariant("alarm-clock-elapsed")}
	const neverExpires = int32(0)
	var id uint32
	err = notifications.CallWithContext(ctx, service+".Notify", 0,
		"Hearken", uint32(0), "", title, text, []string{}, hints, neverExpires).Store(&id)
	if err != nil {
		return callOutcome(err, hearken.ResultUnknown)
	}
	return hearken.Outcome{Result: hearken.ResultOK, Receipt: strconv.FormatUint(uint64(id), 10)}
}

// busAddress is the address of the owner's session bus; empty if there is none.
// A hub that runs outside of the session finds it where systemd puts it. The
// library would instead start a bus that nobody listens to.
func (d *Desktop) busAddress() string {
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

// callOutcome is the outcome of a call that failed. An answer with an error means
// that nothing was shown. Without an answer the result is unanswered.
func callOutcome(err error, unanswered hearken.Result) hearken.Outcome {
	e, answered := errors.AsType[dbus.Error](err)
	if !answered {
		return hearken.Outcome{Result: unanswered, Message: "The desktop's notification service did not answer."}
	}
	switch name := strings.TrimPrefix(e.Name, "org.freedesktop.DBus.Error."); {
	case name == "NoReply" || name == "Timeout" || name == "TimedOut" || name == "Disconnected":
		return hearken.Outcome{Result: unanswered, Message: "The desktop's notification service did not answer."}
	case name == "ServiceUnknown" || name == "NameHasNoOwner" || strings.HasPrefix(name, "Spawn."):
		return permanent("The desktop session has no notification service.")
	case name == "LimitsExceeded" || strings.HasSuffix(name, ".ExcessNotificationGeneration"):
		return hearken.Outcome{Result: hearken.ResultTemporary, Message: "The desktop already shows too many notifications."}
	}
	return permanent("The desktop refused to show the notification.")
}

func permanent(message string) hearken.Outcome {
	return hearken.Outcome{Result: hearken.ResultPermanent, Message: message}
}
