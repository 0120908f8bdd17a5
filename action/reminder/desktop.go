// Package reminder shows reminders on the desktop of this computer.
//
// Their text was spoken, or written by an agent. So nothing interprets it: no
// markup, no script and no shell.
package reminder

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"

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

// Show shows a title and a text. The failure is permanent if there is no
// desktop session, or no notification service in it.
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

// A command is a program to run. Its script is always the same. The text comes
// as an argument or in the environment, where nothing interprets it.
type command struct {
	name  string
	args  []string
	env   []string
	stdin string
}

// osascript reads its script from the input if the first argument is a dash. It
// does not interpret the arguments after it.
func osascript(title, text string) command {
	return command{
		name:  "osascript",
		args:  []string{"-", title, text},
		stdin: "on run argv\n\tdisplay notification (item 2 of argv) with title (item 1 of argv) sound name \"Glass\"\nend run\n",
	}
}

// toastScript builds the notification as a tree, so that its text is never
// parsed. Only programs that Windows knows may show one; PowerShell is one.
const toastScript = `$ErrorActionPreference = 'Stop'
$null = [Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]
$xml = [Windows.UI.Notifications.ToastNotificationManager]::GetTemplateContent([Windows.UI.Notifications.ToastTemplateType]::ToastText02)
$lines = $xml.GetElementsByTagName('text')
$null = $lines.Item(0).AppendChild($xml.CreateTextNode($env:HEARKEN_TITLE))
$null = $lines.Item(1).AppendChild($xml.CreateTextNode($env:HEARKEN_TEXT))
$xml.DocumentElement.SetAttribute('scenario', 'reminder')
$app = '{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\WindowsPowerShell\v1.0\powershell.exe'
[Windows.UI.Notifications.ToastNotificationManager]::CreateToastNotifier($app).Show([Windows.UI.Notifications.ToastNotification]::new($xml))
`

func powershell(title, text string) command {
	return command{
		name: "powershell.exe",
		args: []string{"-NoLogo", "-NoProfile", "-NonInteractive", "-Command", toastScript},
		env:  []string{"HEARKEN_TITLE=" + title, "HEARKEN_TEXT=" + text},
	}
}

// showWith runs a program that shows a notification.
func (d *Desktop) showWith(ctx context.Context, c command) hearken.Outcome {
	err := d.run(ctx, c)
	switch {
	case err == nil:
		return hearken.Outcome{Result: hearken.ResultOK}
	case errors.Is(err, exec.ErrNotFound):
		return permanent(c.name + ", which shows notifications, was not found.")
	case ctx.Err() != nil:
		return hearken.Outcome{Result: hearken.ResultUnknown, Message: c.name + " did not finish in time."}
	}
	return permanent(c.name + " could not show the notification.")
}

func run(ctx context.Context, c command) error {
	cmd := exec.CommandContext(ctx, c.name, c.args...)
	cmd.Env = append(os.Environ(), c.env...)
	cmd.Stdin = strings.NewReader(c.stdin)
	hideWindow(cmd)
	return cmd.Run()
}
