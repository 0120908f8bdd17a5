//go:build unix && !darwin

package reminder

import (
	"bufio"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
)

// startBus starts a session bus of its own and returns its address.
func startBus(t *testing.T) string {
	t.Helper()
	daemon, err := exec.LookPath("dbus-daemon")
	if err != nil {
		t.Skip("dbus-daemon is not installed")
	}
	// A socket's path must be short, so it is not in the test's directory.
	dir, err := os.MkdirTemp("", "bus")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	cmd := exec.Command(daemon, "--session", "--nofork", "--nopidfile", "--print-address", "--address=unix:path="+filepath.Join(dir, "s"))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// A notice is what a server was asked to show.
type notice struct {
	App, Title, Text string
	Urgency          byte
	Expires          int32
	Actions          []string
}

// A server is a notification service that records what it shows.
type server struct {
	can    []string
	fails  *dbus.Error
	silent chan struct{} // if not nil, it answers when this is closed

	mu    sync.Mutex
	shown []notice
}

func (s *server) GetCapabilities() ([]string, *dbus.Error) { return s.can, nil }

func (s *server) Notify(app string, _ uint32, _, title, text string, actions []string, hints map[string]dbus.Variant, expires int32) (uint32, *dbus.Error) {
	if s.silent != nil {
		<-s.silent
	}
	if s.fails != nil {
		return 0, s.fails
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	urgency, _ := hints["urgency"].Value().(byte)
	s.shown = append(s.shown, notice{app, title, text, urgency, expires, actions})
	return uint32(40 + len(s.shown)), nil
}

func (s *server) serve(t *testing.T, address string) {
	t.Helper()
	conn, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.Export(s, object, service); err != nil {
		t.Fatal(err)
	}
	if reply, err := conn.RequestName(service, dbus.NameFlagDoNotQueue); err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		t.Fatal(reply, err)
	}
}

// onBus is a desktop whose session is at an address.
func onBus(address string) *Desktop {
	d := NewDesktop(func(name string) string {
		if name == "DBUS_SESSION_BUS_ADDRESS" {
			return address
		}
		return ""
	})
	d.uid = -1
	return d
}

func TestDesktop_Bus(t *testing.T) {
	for _, tt := range []struct {
		name        string
		can         []string
		text, shown string
	}{
		{"Plain", nil, "call Žaneta & <b>Bob</b>", "call Žaneta & <b>Bob</b>"},
		{"Markup", []string{"actions", "body", "body-markup"}, `<a href="http://x.example">bank</a> & co`, `&lt;a href="http://x.example"&gt;bank&lt;/a&gt; &amp; co`},
		{"NotUTF8", nil, "tea\xff\x00 now", "tea\uFFFD now"},
		{"Controls", nil, "two\nlines\x1b[31m \u202etxet\u2066", "two\nlines[31m txet"},
		{"Long", nil, strings.Repeat("茶", 2000), strings.Repeat("茶", maxText) + "..."},
		{"Empty", nil, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			address := startBus(t)
			s := &server{can: tt.can}
			s.serve(t, address)
			out := onBus(address).Show(t.Context(), "Reminder", tt.text)
			if out.Result != hearken.ResultOK || out.Receipt != "41" {
				t.Error(out)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if diff := cmp.Diff([]notice{{"Hearken", "Reminder", tt.shown, critical, 0, []string{}}}, s.shown); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDesktop_BusRefuses(t *testing.T) {
	for name, want := range map[string]hearken.Result{
		"org.freedesktop.DBus.Error.LimitsExceeded":                        hearken.ResultTemporary,
		"org.freedesktop.Notifications.Error.ExcessNotificationGeneration": hearken.ResultTemporary,
		"org.freedesktop.DBus.Error.NoReply":                               hearken.ResultUnknown,
		"org.freedesktop.DBus.Error.Failed":                                hearken.ResultPermanent,
	} {
		t.Run(name, func(t *testing.T) {
			address := startBus(t)
			s := &server{fails: dbus.NewError(name, []any{"secret words"})}
			s.serve(t, address)
			if out := onBus(address).Show(t.Context(), "Reminder", "tea"); out.Result != want || strings.Contains(out.Message, "secret") || out.Message == "" {
				t.Error(out)
			}
		})
	}
}

// TestDesktop_BusSilent has a service that gets the notification and does not
// answer.
func TestDesktop_BusSilent(t *testing.T) {
	address := startBus(t)
	s := &server{silent: make(chan struct{})}
	defer close(s.silent)
	s.serve(t, address)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if out := onBus(address).Show(ctx, "Reminder", "tea"); out.Result != hearken.ResultUnknown {
		t.Error(out)
	}
}

func TestDesktop_NoServer(t *testing.T) {
	out := onBus(startBus(t)).Show(t.Context(), "Reminder", "tea")
	if out.Result != hearken.ResultPermanent || !strings.Contains(out.Message, "no notification service") {
		t.Error(out)
	}
}

func TestDesktop_NoBus(t *testing.T) {
	for _, address := range []string{"", "unix:path=" + filepath.Join(t.TempDir(), "none"), "autolaunch:", "nonsense"} {
		out := onBus(address).Show(t.Context(), "Reminder", "tea")
		if out.Result != hearken.ResultPermanent || !strings.Contains(out.Message, "desktop session") {
			t.Errorf("%q: %v", address, out)
		}
	}
}

// TestDesktop_DeafBus has a socket that nobody answers on.
func TestDesktop_DeafBus(t *testing.T) {
	dir, err := os.MkdirTemp("", "bus")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	l, err := net.Listen("unix", filepath.Join(dir, "bus"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	d := NewDesktop(func(name string) string {
		if name == "XDG_RUNTIME_DIR" {
			return dir
		}
		return ""
	})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if out := d.Show(ctx, "Reminder", "tea"); out.Result != hearken.ResultTemporary {
		t.Error(out)
	}
}

// TestDesktop_RuntimeDir finds the bus where systemd puts it.
func TestDesktop_RuntimeDir(t *testing.T) {
	address := startBus(t)
	s := &server{}
	s.serve(t, address)
	path, _, _ := strings.Cut(strings.TrimPrefix(address, "unix:path="), ",")
	dir := t.TempDir()
	if err := os.Symlink(path, filepath.Join(dir, "bus")); err != nil {
		t.Fatal(err)
	}
	d := NewDesktop(func(name string) string {
		if name == "XDG_RUNTIME_DIR" {
			return dir
		}
		return ""
	})
	if out := d.Show(t.Context(), "Reminder", "tea"); out.Result != hearken.ResultOK {
		t.Error(out)
	}
}
