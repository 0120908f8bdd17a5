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
	"strings"
	"unicode"

	"github.com/hearken-dev/hearken"
)

// longest is how many characters of a text are shown: a screen has an end.
const longest = 1000

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

// Name is "desktop".
func (d *Desktop) Name() string { return "desktop" }

// There reports whether there is a desktop to show anything on, as far as can
// be told without showing something.
func (d *Desktop) There() bool {
	return d.system == "darwin" || d.system == "windows" || d.address() != ""
}

// Show puts a title and a text on the screen. It is permanent that there is no
// screen, or nothing on it that shows notices.
func (d *Desktop) Show(ctx context.Context, title, text string) hearken.Outcome {
	title, text = plain(title, 100), plain(text, longest)
	switch d.system {
	case "darwin":
		return d.start(ctx, osascript(title, text))
	case "windows":
		return d.start(ctx, powershell(title, text))
	}
	return d.overBus(ctx, title, text)
}

// plain is a text without what could hide or turn its words, or upset who shows
// it.
func plain(text string, most int) string {
	var b strings.Builder
	n := 0
	for _, c := range strings.ToValidUTF8(text, "\uFFFD") {
		switch {
		case n == most:
			return b.String() + "..."
		case c == '\n' || c == '\t':
		case unicode.IsControl(c), unicode.Is(unicode.Bidi_Control, c), unicode.Is(unicode.Cs, c), unicode.Is(unicode.Noncharacter_Code_Point, c):
			continue
		}
		b.WriteRune(c)
		n++
	}
	return b.String()
}
