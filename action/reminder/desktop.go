// Package reminder tells the owner of reminders where the owner sits: on the
// screen of this computer.
//
// What is shown are words that were spoken or that an agent wrote, so they are
// shown as they are: no markup, no script and no shell ever reads them.
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

// Desktop shows notices by the means of the operating system: on Linux and its
// kin over D-Bus, on macOS and Windows with a program that comes with them. Its
// methods may be called concurrently.
type Desktop struct {
	system string // as runtime.GOOS
	getenv func(string) string
	uid    int
	run    func(ctx context.Context, c command) error
}

// NewDesktop makes one for this computer. The session in which the owner sits
// is looked for each time anew, since a hub may outlive it.
func NewDesktop(getenv func(string) string) *Desktop {
	return &Desktop{system: runtime.GOOS, getenv: getenv, uid: os.Getuid(), run: run}
}

// There reports whether there is a desktop to show anything on, as far as can
// be told without showing something.
func (d *Desktop) There() bool {
	return d.system == "darwin" || d.system == "windows" || d.address() != ""
}

// Show puts a title and a text on the screen. It is permanent that there is no
// screen, or nothing on it that shows notices.
func (d *Desktop) Show(ctx context.Context, title, text string) hearken.Outcome {
	title, text = safetext.Clip(safetext.Clean(title), maxTitle), safetext.Clip(safetext.Clean(text), maxText)
	switch d.system {
	case "darwin":
		return d.start(ctx, osascript(title, text))
	case "windows":
		return d.start(ctx, powershell(title, text))
	}
	return d.overBus(ctx, title, text)
}
