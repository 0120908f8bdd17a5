//go:build accept

package accept

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/hearken-dev/hearken/test/hubtest"
)

// A desktop is a screen (Xvfb), a session bus, and dunst, which shows notices.
type desktop struct {
	bus  string // its address
	conn *dbus.Conn
}

const notifications, notificationsPath = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"

func startDesktop(t *testing.T) *desktop {
	t.Helper()
	dir, err := os.MkdirTemp("", "bus") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	d := &desktop{bus: startAndReadLine(t, "dbus-daemon", 1, "--session", "--nofork", "--nopidfile", "--print-address", "--address=unix:path="+filepath.Join(dir, "s"))}
	display := ":" + startAndReadLine(t, "Xvfb", 3, "-displayfd", "3", "-screen", "0", "1280x720x24", "-nolisten", "tcp")
	config := filepath.Join(dir, "dunstrc")
	calendarFile(t, config, "[global]\nmarkup = full\nhistory_length = 20\n")
	runUntilEnd(t, exec.Command("dunst", "-config", config), "DISPLAY="+display, "DBUS_SESSION_BUS_ADDRESS="+d.bus, "HOME="+dir)
	if d.conn, err = dbus.Connect(d.bus); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.conn.Close() })
	hubtest.WaitUntil(t, 30*time.Second, "dunst runs", func() bool {
		var there bool
		err := d.conn.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, notifications).Store(&there)
		return err == nil && there
	})
	return d
}

// startAndReadLine starts a program that says one line on a descriptor once it is
// ready, and returns the line.
func startAndReadLine(t *testing.T, name string, descriptor int, args ...string) string {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	cmd := exec.Command(name, args...)
	if descriptor == 1 {
		cmd.Stdout = write
	} else {
		cmd.ExtraFiles = []*os.File{write}
	}
	runUntilEnd(t, cmd)
	write.Close()
	line, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		t.Fatalf("%s said %q: %v", name, line, err)
	}
	return strings.TrimSpace(line)
}

// runUntilEnd runs a program until the test ends, and skips the test where there is
// none.
func runUntilEnd(t *testing.T, cmd *exec.Cmd, env ...string) {
	t.Helper()
	if cmd.Err != nil {
		t.Skipf("%s is not installed", cmd.Args[0])
	}
	cmd.Env = append(os.Environ(), env...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
}

// shows waits until dunst shows a notice with this title, and returns its text.
// What dunst shows it tells only of what was closed.
func (d *desktop) shows(t *testing.T, title string) (text string) {
	t.Helper()
	dunst := d.conn.Object(notifications, notificationsPath)
	hubtest.WaitUntil(t, 30*time.Second, "there is a notice "+title, func() bool {
		if err := dunst.Call("org.dunstproject.cmd0.NotificationCloseAll", 0).Err; err != nil {
			t.Fatal(err)
		}
		var history []map[string]dbus.Variant
		if err := dunst.Call("org.dunstproject.cmd0.NotificationListHistory", 0).Store(&history); err != nil {
			t.Fatal(err)
		}
		for _, notice := range history {
			if notice["summary"].Value() == title && notice["appname"].Value() == "Hearken" {
				text, _ = notice["body"].Value().(string)
				return true
			}
		}
		return false
	})
	return text
}
