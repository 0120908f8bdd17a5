package reminder

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"

	"github.com/hearken-dev/hearken"
)

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
