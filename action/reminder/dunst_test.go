//go:build unix && !darwin && accept

package reminder

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/hearken-dev/hearken"
)

// startProgram runs a program until the test ends, and skips the test where
// there is none.
func startProgram(t *testing.T, env []string, extra *os.File, name string, args ...string) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip(name + " is not installed")
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), env...)
	if extra != nil {
		cmd.ExtraFiles = []*os.File{extra}
	}
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
}

// startScreen starts an X server and returns its display.
func startScreen(t *testing.T) string {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	startProgram(t, nil, write, "Xvfb", "-displayfd", "3", "-screen", "0", "1280x720x24", "-nolisten", "tcp")
	write.Close()
	number, err := bufio.NewReader(read).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) || number == "" {
		t.Fatalf("Xvfb said %q, %v", number, err)
	}
	return ":" + strings.TrimSpace(number)
}

// TestDesktop_Dunst shows a reminder with a real notification daemon on a real
// screen, and asks the daemon what it showed.
func TestDesktop_Dunst(t *testing.T) {
	address, display := startBus(t), startScreen(t)
	rc := filepath.Join(t.TempDir(), "dunstrc")
	if err := os.WriteFile(rc, []byte("[global]\nmarkup = full\nhistory_length = 20\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	conn, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	names := make(chan *dbus.Signal, 10)
	conn.Signal(names)
	if err := conn.AddMatchSignal(dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, service)); err != nil {
		t.Fatal(err)
	}
	startProgram(t, []string{"DISPLAY=" + display, "DBUS_SESSION_BUS_ADDRESS=" + address}, nil, "dunst", "-config", rc)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for there := false; !there; {
		select {
		case signal := <-names:
			there = strings.HasSuffix(signal.Name, ".NameOwnerChanged")
		case <-ctx.Done():
			t.Fatal("dunst does not start")
		}
	}

	const text = `<b>call</b> Žaneta & <a href="http://x.example">Bob</a>`
	if out := onBus(address).Show(ctx, "Reminder", text); out.Result != hearken.ResultOK || out.Receipt == "" {
		t.Fatal(out)
	}
	dunst := conn.Object(service, object)
	for displayed := uint32(0); displayed != 1; {
		if err := dunst.StoreProperty("org.dunstproject.cmd0.displayedLength", &displayed); err != nil || ctx.Err() != nil {
			t.Fatalf("dunst displays %d notices, %v", displayed, err)
		}
	}
	if err := dunst.CallWithContext(ctx, "org.dunstproject.cmd0.NotificationCloseAll", 0).Err; err != nil {
		t.Fatal(err)
	}
	var history []map[string]dbus.Variant
	for len(history) == 0 && ctx.Err() == nil {
		if err := dunst.CallWithContext(ctx, "org.dunstproject.cmd0.NotificationListHistory", 0).Store(&history); err != nil {
			t.Fatal(err)
		}
	}
	if len(history) != 1 {
		t.Fatalf("dunst remembers %d notices", len(history))
	}
	shown := history[0]
	if shown["summary"].Value() != "Reminder" || shown["appname"].Value() != "Hearken" || shown["timeout"].Value() != int64(0) || shown["body"].Value() != markupEscaper.Replace(text) {
		t.Errorf("dunst showed %v", shown)
	}
}
