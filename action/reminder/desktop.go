// Package reminder shows reminders on the desktop of this computer.
//
// Their text was spoken, or written by an agent. So nothing interprets it: no
// markup, no script and no shell.
package reminder

import (
	"context"
	"os"
	"runtime"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/safetext"
)

// How many characters are shown.
const (
	maxTitle = 100
	maxText  = 1000
)

// Desktop shows notifications: over D-Bus on Linux and other Unix systems, and
// with a program of the operating system on macOS and Windows. Its methods may
// be called concurrently.
type Desktop struct {
	system string // as runtime.GOOS
	getenv func(string) string
	uid    int
	run    func(ctx context.Context, c command) error
}

// NewDesktop makes one for this computer. It finds the owner's desktop session
// anew each time, because the hub may run longer.
func NewDesktop(getenv func(string) string) *Desktop {
	return &Desktop{system: runtime.GOOS, getenv: getenv, uid: os.Getuid(), run: run}
}

// Available reports whether there is a desktop, as far as that is known without
// showing anything.
func (d *Desktop) Available() bool {
	return d.system == "darwin" || d.system == "windows" || d.busAddress() != ""
}

// Show shows a title and a text. The failure is permanent if there is no desktop
// session, or no notification service in it.
func (d *Desktop) Show(ctx context.Context, title, text string) hearken.Outcome {
	title, text = safetext.Clip(safetext.Clean(title), maxTitle), safetext.Clip(safetext.Clean(text), maxText)
	switch d.system {
	case "darwin":
		return d.showWith(ctx, osascript(title, text))
	case "windows":
		return d.showWith(ctx, powershell(title, text))
	}
	return d.showOverDBus(ctx, title, text)
}
