//go:build accept

package accept

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/action/calendar"
)

const (
	calendarUser     = "alice"
	calendarPassword = "correct horse"
)

// calendarProgram finds a program of the system's packages, or skips the test.
func calendarProgram(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	return path
}

// serveCalendars starts a calendar server on a free port and waits until it
// listens. It is stopped when the test ends.
func serveCalendars(t *testing.T, name string, args func(host, port string) []string) string {
	t.Helper()
	path := calendarProgram(t, name)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, args(host, port)...)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &log, &log, 5*time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	t.Cleanup(func() { <-ended })
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	late := time.After(30 * time.Second)
	for {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return "http://" + address
		}
		select {
		case <-poll.C:
		case <-ended:
			t.Fatalf("%s ended: %s", name, log.String())
		case <-late:
			t.Fatalf("%s is not ready in 30 s", name)
		}
	}
}

func radicale(t *testing.T) string {
	dir := t.TempDir()
	return serveCalendars(t, "radicale", func(host, port string) []string {
		users, config := filepath.Join(dir, "users"), filepath.Join(dir, "config")
		calendarFile(t, users, calendarUser+":"+calendarPassword+"\n")
		calendarFile(t, config, fmt.Sprintf("[server]\nhosts=%s:%s\n[auth]\ntype=htpasswd\nhtpasswd_filename=%s\nhtpasswd_encryption=plain\ndelay=0\n[storage]\nfilesystem_folder=%s\n",
			host, port, users, filepath.Join(dir, "data")))
		return []string{"-C", config}
	})
}

// xandikos asks nobody for a password, and keeps calendars in git.
func xandikos(t *testing.T) string {
	dir := t.TempDir()
	return serveCalendars(t, "xandikos", func(host, port string) []string {
		return []string{"-d", dir, "--defaults", "--autocreate", "--current-user-principal", "/alice/", "-l", host, "-p", port}
	})
}

func calendarFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// dav speaks to a calendar server as anybody would.
func dav(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.SetBasicAuth(calendarUser, calendarPassword)
	if method == http.MethodPut {
		req.Header.Set("Content-Type", "text/calendar")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

// A calendarDesktop is somebody's calendar programs, with files of their own.
type calendarDesktop struct {
	t   *testing.T
	dir string
}

// run runs a program and returns what it says.
func (d calendarDesktop) run(name string, args ...string) string {
	d.t.Helper()
	path := calendarProgram(d.t, name)
	ctx, cancel := context.WithTimeout(d.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin = strings.NewReader(strings.Repeat("y\n", 20))
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + d.dir, "XDG_CONFIG_HOME=" + d.dir, "XDG_CACHE_HOME=" + d.dir, "XDG_DATA_HOME=" + d.dir,
		"LANG=C.UTF-8", "LC_ALL=C.UTF-8", "TZ=Europe/Berlin",
		"VDIRSYNCER_CONFIG=" + filepath.Join(d.dir, "vdirsyncer.conf"), "TODOMAN_CONFIG=" + filepath.Join(d.dir, "todoman.py"),
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// sync fetches what a storage holds, as vdirsyncer calls it, and sets up khal
// and todoman to show it in Berlin.
func (d calendarDesktop) sync(storage, collections string) {
	d.t.Helper()
	calendarFile(d.t, filepath.Join(d.dir, "vdirsyncer.conf"), fmt.Sprintf(`[general]
status_path = "%[1]s/status/"
[pair all]
a = "here"
b = "there"
collections = %[3]s
conflict_resolution = "b wins"
[storage here]
type = "filesystem"
path = "%[1]s/vdir/"
fileext = ".ics"
[storage there]
%[2]s
`, d.dir, storage, collections))
	d.run("vdirsyncer", "discover")
	d.run("vdirsyncer", "sync")
	calendarFile(d.t, filepath.Join(d.dir, "khal.conf"), fmt.Sprintf(`[calendars]
[[all]]
path = %[1]s/vdir/*
type = discover
[locale]
timeformat = %%H:%%M
dateformat = %%Y-%%m-%%d
longdateformat = %%Y-%%m-%%d
datetimeformat = %%Y-%%m-%%d %%H:%%M
longdatetimeformat = %%Y-%%m-%%d %%H:%%M
local_timezone = Europe/Berlin
default_timezone = Europe/Berlin
[sqlite]
path = %[1]s/khal.db
`, d.dir))
	calendarFile(d.t, filepath.Join(d.dir, "todoman.py"), fmt.Sprintf("path = %q\ndate_format = \"%%Y-%%m-%%d\"\ntime_format = \"%%H:%%M\"\ncache_path = %q\n",
		d.dir+"/vdir/*", d.dir+"/todoman.db"))
}

// shows looks at what khal lists from a day on.
func (d calendarDesktop) shows(from, days string, want ...string) {
	d.t.Helper()
	out := d.run("khal", "-c", filepath.Join(d.dir, "khal.conf"), "list", "--day-format", "", "--format", "{start-long-full} to {end-long-full} {title}", from, days)
	for _, line := range want {
		if !strings.Contains(out, line) {
			d.t.Errorf("khal does not show %q but\n%s", line, out)
		}
	}
	if got := strings.Count(out, " to 20"); got != len(want) {
		d.t.Errorf("khal shows %d entries, want %d:\n%s", got, len(want), out)
	}
}

func calendarTime(t *testing.T, s string) time.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// saidForCalendar are a meeting in winter, and a reminder for every day whose second
// and third time have the end of daylight saving between them.
func saidForCalendar(t *testing.T) []*hearken.Action {
	t.Helper()
	return []*hearken.Action{
		{
			ID: hearken.NewActionID(hearken.CalendarCreate), Tool: hearken.CalendarCreate, State: hearken.ActionDone, CreatedAt: calendarTime(t, "2026-10-20T12:00:00Z"),
			Appointment: &hearken.Appointment{Title: "朝ラン; with Žan, Bob", Start: calendarTime(t, "2026-11-20T15:00:00+02:00"), Zone: "Europe/Berlin", Duration: 90 * time.Minute},
		},
		{
			ID: hearken.NewActionID(hearken.ReminderCreate), Tool: hearken.ReminderCreate, State: hearken.ActionDone, CreatedAt: calendarTime(t, "2026-10-20T12:00:00Z"),
			Reminder: &hearken.Reminder{Note: "take pills", At: calendarTime(t, "2026-10-23T09:00:00+02:00"), Zone: "Europe/Berlin", Repeat: "FREQ=DAILY;COUNT=4"},
		},
	}
}

// What Hearken writes to two different servers is what two other programs read
// from them, on the right clock.
func TestCalendar_Servers(t *testing.T) {
	for name, start := range map[string]func(*testing.T) string{"Radicale": radicale, "Xandikos": xandikos} {
		t.Run(name, func(t *testing.T) {
			d := calendarDesktop{t, t.TempDir()}
			server := start(t)
			if name == "Radicale" {
				if status, body := dav(t, "MKCALENDAR", server+"/alice/calendar/", ""); status != http.StatusCreated {
					t.Fatalf("make calendar: %d %s", status, body)
				}
			}
			c, err := calendar.NewCalDAV(calendar.Config{URL: server, User: calendarUser, Password: calendarPassword, Reminders: "both"})
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Check(t.Context()); err != nil {
				t.Fatal(err)
			}
			actions := saidForCalendar(t)
			for range 2 { // the second time finds the first
				for _, a := range actions {
					o := c.Do(t.Context(), a)
					if o.Result != hearken.ResultOK {
						t.Fatalf("%s: %+v", a.Tool, o)
					}
					a.Receipt = o.Receipt
				}
			}
			d.sync(fmt.Sprintf("type = \"caldav\"\nurl = \"%s/\"\nusername = %q\npassword = %q", server, calendarUser, calendarPassword), `["from b"]`)
			d.shows("2026-10-22", "7d",
				"2026-10-23 09:00 to 2026-10-23 09:05 take pills", "2026-10-24 09:00 to 2026-10-24 09:05 take pills",
				"2026-10-25 09:00 to 2026-10-25 09:05 take pills", "2026-10-26 09:00 to 2026-10-26 09:05 take pills")
			d.shows("2026-11-20", "1d", "2026-11-20 14:00 to 2026-11-20 15:30 朝ラン; with Žan, Bob")
			if out := d.run("todoman", "list"); strings.Count(out, "take pills") != 1 || !strings.Contains(out, "2026-10-23 09:01") {
				t.Errorf("todoman shows\n%s", out)
			}
			titles, err := c.Conflicts(t.Context(), calendarTime(t, "2026-11-20T13:00:00Z"), calendarTime(t, "2026-11-20T13:30:00Z"))
			if err != nil || len(titles) != 1 {
				t.Errorf("conflicts: %q, %v", titles, err)
			}

			// Under another name the UID is refused, by one server with 207.
			meeting := actions[0]
			_, kept := dav(t, http.MethodGet, server+meeting.Receipt, "")
			dav(t, http.MethodDelete, server+meeting.Receipt, "")
			moved := strings.Replace(meeting.Receipt, meeting.ID, "moved", 1)
			if status, body := dav(t, http.MethodPut, server+moved, kept); status != http.StatusCreated {
				t.Fatalf("move: %d %s", status, body)
			}
			if o := c.Do(t.Context(), meeting); o.Result != hearken.ResultOK || o.Receipt != moved {
				t.Errorf("the same under another name: %+v, want %s", o, moved)
			}
			meeting.Receipt = moved

			for _, a := range actions {
				if o := c.Undo(t.Context(), a); o.Result != hearken.ResultOK {
					t.Errorf("undo: %+v", o)
				}
			}
			d.run("vdirsyncer", "sync", "--force-delete")
			d.shows("2026-11-20", "1d")
		})
	}
}

// doneActions are actions as a store lists them.
type doneActions []*hearken.Action

func (d doneActions) Actions(_ context.Context, f hearken.ActionFilter) ([]hearken.Action, error) {
	var list []hearken.Action
	for _, a := range d {
		if a.Tool == f.Tool {
			list = append(list, *a)
		}
	}
	return list, nil
}

// Whoever subscribes to the built-in calendar sees the same.
func TestCalendar_Subscription(t *testing.T) {
	feed, err := calendar.NewFeed(calendar.FeedConfig{Dir: t.TempDir(), Actions: doneActions(saidForCalendar(t))})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(feed)
	defer server.Close()
	d := calendarDesktop{t, t.TempDir()}
	d.subscribe(server.URL + feed.Path())
	d.shows("2026-10-22", "7d",
		"2026-10-23 09:00 to 2026-10-23 09:05 take pills", "2026-10-24 09:00 to 2026-10-24 09:05 take pills",
		"2026-10-25 09:00 to 2026-10-25 09:05 take pills", "2026-10-26 09:00 to 2026-10-26 09:05 take pills")
	d.shows("2026-11-20", "1d", "2026-11-20 14:00 to 2026-11-20 15:30 朝ラン; with Žan, Bob")
}
