package calendar

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/safetext"
)

const (
	user     = "alice"
	password = "correct horse"
)

// radicale starts the CalDAV server of that name on a free port, with a
// directory and a user of its own, and returns its address.
func radicale(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("radicale")
	if err != nil {
		t.Skip("radicale is not installed: no CalDAV server to test with")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "users"), []byte(user+":"+password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for try := 0; ; try++ {
		url, err := startRadicale(t, program, dir)
		if err == nil {
			return url
		}
		// Another process may have taken the port since it was free.
		if try == 3 {
			t.Fatal(err)
		}
	}
}

func startRadicale(t *testing.T, program, dir string) (string, error) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	address := free.Addr().String()
	free.Close()
	config := fmt.Sprintf("[server]\nhosts=%s\n[auth]\ntype=htpasswd\nhtpasswd_filename=%s\nhtpasswd_encryption=plain\ndelay=0\n"+
		"[rights]\ntype=owner_only\n[storage]\nfilesystem_folder=%s\n",
		address, filepath.Join(dir, "users"), filepath.Join(dir, "data"))
	file := filepath.Join(dir, "config")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(t.Context(), program, "-C", file)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		return "", err
	}
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	t.Cleanup(func() { <-ended }) // killed when the test's context ends, just before
	ready := func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	}
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	late := time.After(30 * time.Second)
	for !ready() {
		select {
		case <-poll.C:
		case <-ended:
			return "", fmt.Errorf("radicale ended: %s", log.String())
		case <-late:
			return "", errors.New("radicale is not ready in 30 s")
		}
	}
	return "http://" + address, nil
}

// request makes a request without the package, like another client.
func request(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.SetBasicAuth(user, password)
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

// makeCalendar creates a calendar that accepts the given kinds of objects.
func makeCalendar(t *testing.T, url, name string, kinds ...string) {
	t.Helper()
	var comps strings.Builder
	for _, kind := range kinds {
		fmt.Fprintf(&comps, `<C:comp name="%s"/>`, kind)
	}
	body := fmt.Sprintf(`<C:mkcalendar xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:set><D:prop><D:displayname>%s</D:displayname>`+
		`<C:supported-calendar-component-set>%s</C:supported-calendar-component-set></D:prop></D:set></C:mkcalendar>`, name, comps.String())
	if status, answer := request(t, "MKCALENDAR", url, body); status != http.StatusCreated {
		t.Fatalf("make calendar: %d %s", status, answer)
	}
}

func connect(t *testing.T, url string, edit func(*Config)) *CalDAV {
	t.Helper()
	cfg := Config{URL: url, User: user, Password: password}
	if edit != nil {
		edit(&cfg)
	}
	c, err := NewCalDAV(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.client.CloseIdleConnections)
	return c
}

func do(t *testing.T, c *CalDAV, a *hearken.Action) {
	t.Helper()
	o := c.Do(t.Context(), a)
	if o.Result != hearken.ResultOK || o.Receipt == "" {
		t.Fatalf("%s: %+v", a.Tool, o)
	}
	a.Receipt = o.Receipt
}

// inCalendar is how many objects the server has in a calendar.
func inCalendar(t *testing.T, url string) int {
	t.Helper()
	status, file := request(t, http.MethodGet, url, "")
	if status != http.StatusOK {
		t.Fatalf("calendar: %d", status)
	}
	return len(parseComponents(file))
}

func TestRadicale(t *testing.T) {
	server := radicale(t)
	makeCalendar(t, server+"/alice/work/", "Work", event)
	makeCalendar(t, server+"/alice/todo/", "Things to do", task)
	c := connect(t, server, nil)
	if err := c.Check(t.Context()); err != nil {
		t.Fatal(err)
	}

	t.Run("Appointment", func(t *testing.T) {
		a := appointment(t, "2026-11-20T15:00:00+02:00")
		do(t, c, a)
		if want := "/alice/work/" + a.ID + ".ics"; a.Receipt != want {
			t.Errorf("receipt %s, want %s", a.Receipt, want)
		}
		status, stored := request(t, http.MethodGet, server+a.Receipt, "")
		read := parseComponents(stored)
		if status != http.StatusOK || len(read) != 1 {
			t.Fatalf("read back: %d %s", status, stored)
		}
		start, _ := read[0].get("DTSTART")
		if at, _ := start.instant(); !at.Equal(a.Appointment.Start) || read[0].text("SUMMARY") != a.Appointment.Title || read[0].text("DESCRIPTION") != a.Appointment.Description {
			t.Errorf("the server stores %s", stored)
		}

		// A retry, as after a crash, finds the first.
		before := inCalendar(t, server+"/alice/work/")
		for attempt := range 3 {
			retry := *a
			retry.Receipt, retry.Attempts = "", attempt
			do(t, connect(t, server, nil), &retry)
			if retry.Receipt != a.Receipt {
				t.Errorf("receipt %s, want %s", retry.Receipt, a.Receipt)
			}
		}
		if after := inCalendar(t, server+"/alice/work/"); after != before {
			t.Errorf("%d entries after %d", after, before)
		}

		titles, err := c.Conflicts(t.Context(), a.Appointment.Start.Add(-time.Hour), a.Appointment.Start.Add(time.Minute))
		if err != nil || len(titles) != 1 || titles[0] != a.Appointment.Title {
			t.Errorf("conflicts: %q, %v", titles, err)
		}
		titles, err = c.Conflicts(t.Context(), a.Appointment.Start.Add(time.Hour), a.Appointment.Start.Add(2*time.Hour))
		if err != nil || len(titles) != 0 {
			t.Errorf("later: %q, %v", titles, err)
		}

		for range 2 { // the second time it is already removed
			if o := c.Undo(t.Context(), a); o.Result != hearken.ResultOK {
				t.Errorf("undo: %+v", o)
			}
		}
		if status, _ := request(t, http.MethodGet, server+a.Receipt, ""); status != http.StatusNotFound {
			t.Errorf("after undo: %d", status)
		}
	})

	t.Run("HardText", func(t *testing.T) {
		a := appointment(t, "2026-11-20T15:00:00+02:00")
		a.Appointment.Title = strings.Repeat("朝ラン👩‍🚀", 40) + "\r\nEND:VEVENT\r\n\x00\u202Ex"
		a.Appointment.Description = strings.Repeat(`\;,:"`, 500)
		do(t, c, a)
		_, stored := request(t, http.MethodGet, server+a.Receipt, "")
		read := parseComponents(stored)
		if len(read) != 1 || read[0].text("SUMMARY") != safetext.Line(a.Appointment.Title) || read[0].text("DESCRIPTION") != a.Appointment.Description {
			t.Errorf("the server stores %s", stored)
		}
		if o := c.Undo(t.Context(), a); o.Result != hearken.ResultOK {
			t.Errorf("undo: %+v", o)
		}
	})

	t.Run("ChangedByAPerson", func(t *testing.T) {
		a := appointment(t, "2026-11-20T15:00:00+02:00")
		do(t, c, a)
		_, stored := request(t, http.MethodGet, server+a.Receipt, "")
		if status, _ := request(t, http.MethodPut, server+a.Receipt, strings.Replace(stored, "Room 7", "Room 8", 1)); status != http.StatusCreated && status != http.StatusNoContent {
			t.Fatalf("change: %d", status)
		}
		o := c.Undo(t.Context(), a)
		if o.Result != hearken.ResultPermanent || !strings.Contains(o.Message, "changed") {
			t.Errorf("undo: %+v", o)
		}
		if status, stored := request(t, http.MethodGet, server+a.Receipt, ""); status != http.StatusOK || !strings.Contains(stored, "Room 8") {
			t.Errorf("after undo: %d %s", status, stored)
		}
		retry := *a // it was created, whatever happened to it since
		retry.Attempts = 2
		do(t, c, &retry)
	})

	t.Run("Moved", func(t *testing.T) {
		a := appointment(t, "2026-11-20T15:00:00+02:00")
		do(t, c, a)
		_, stored := request(t, http.MethodGet, server+a.Receipt, "")
		request(t, http.MethodDelete, server+a.Receipt, "")
		if status, _ := request(t, http.MethodPut, server+"/alice/work/another-name.ics", stored); status != http.StatusCreated {
			t.Fatalf("move: %d", status)
		}
		do(t, c, a) // the server refuses the UID with 409
		if a.Receipt != "/alice/work/another-name.ics" {
			t.Errorf("found at %s", a.Receipt)
		}
	})

	t.Run("Task", func(t *testing.T) {
		for _, repeat := range []string{"", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"} {
			a := reminder(t, "2026-10-22T09:00:00+02:00", repeat)
			do(t, c, a)
			_, stored := request(t, http.MethodGet, server+a.Receipt, "")
			if !strings.HasPrefix(a.Receipt, "/alice/todo/") || !strings.Contains(stored, "BEGIN:VALARM") || !strings.Contains(stored, "BEGIN:VTODO") {
				t.Errorf("%s: %s", a.Receipt, stored)
			}
			if o := c.Undo(t.Context(), a); o.Result != hearken.ResultOK {
				t.Errorf("undo: %+v", o)
			}
		}
	})
}

// A recurring reminder stays at its wall clock time after the end of daylight
// saving, as the server itself calculates it.
func TestRadicale_DaylightSaving(t *testing.T) {
	server := radicale(t)
	makeCalendar(t, server+"/alice/work/", "Work", event, task)
	c := connect(t, server+"/alice/work", func(cfg *Config) { cfg.Reminders = "both" })
	a := reminder(t, "2026-10-22T09:00:00+02:00", "FREQ=DAILY")
	do(t, c, a)
	if n := inCalendar(t, server+"/alice/work/"); n != 2 {
		t.Fatalf("%d objects", n)
	}
	for _, tt := range []struct {
		from, to string
		want     int
	}{
		{"20261023T070100Z", "20261023T070200Z", 1}, // 09:01 in summer
		{"20261026T070100Z", "20261026T070200Z", 0}, // 08:01 in winter
		{"20261026T080100Z", "20261026T080200Z", 1}, // 09:01 in winter
		{"20270401T070100Z", "20270401T070200Z", 1}, // and in summer again
	} {
		body := fmt.Sprintf(calendarQuery, event, fmt.Sprintf(`<C:time-range start="%s" end="%s"/>`, tt.from, tt.to))
		status, answer := request(t, "REPORT", server+"/alice/work/", body)
		if got := strings.Count(answer, "BEGIN:VEVENT"); status != http.StatusMultiStatus || got != tt.want {
			t.Errorf("%s: %d with %d events, want %d", tt.from, status, got, tt.want)
		}
	}
	// It does not show as busy.
	if titles, err := c.Conflicts(t.Context(), a.Reminder.At, a.Reminder.At.Add(time.Hour)); err != nil || len(titles) != 0 {
		t.Errorf("conflicts: %q, %v", titles, err)
	}
	if o := c.Undo(t.Context(), a); o.Result != hearken.ResultOK {
		t.Fatalf("undo: %+v", o)
	}
	if n := inCalendar(t, server+"/alice/work/"); n != 0 {
		t.Errorf("%d objects after undo", n)
	}
}

// Check explains everything that can be wrong with the settings.
func TestRadicale_Check(t *testing.T) {
	server := radicale(t)
	check := func(edit func(*Config)) error { return connect(t, server, edit).Check(t.Context()) }
	says := func(err error, part string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("says %v, want %q", err, part)
		}
	}
	says(check(nil), "no calendar for events")
	makeCalendar(t, server+"/alice/work/", "Work", event)
	says(check(nil), "CALDAV_REMINDERS=vevent")
	for _, way := range []string{"vevent", "off"} {
		if err := check(func(c *Config) { c.Reminders = way }); err != nil {
			t.Errorf("%s: %v", way, err)
		}
	}
	off := connect(t, server, func(c *Config) { c.Reminders = "off" })
	wants(t, off.Do(t.Context(), reminder(t, "2026-10-22T09:00:00+02:00", "")), hearken.ResultPermanent, "not written")
	makeCalendar(t, server+"/alice/todo/", "Todo", task)
	makeCalendar(t, server+"/alice/private/", "Private", event, task)
	for _, name := range []string{"Private", "private", "/alice/private", "/alice/private/", server + "/alice/private/"} {
		c := connect(t, server, func(c *Config) { c.Calendar = name })
		if err := c.Check(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		a := appointment(t, "2026-11-20T15:00:00+02:00")
		if do(t, c, a); !strings.HasPrefix(a.Receipt, "/alice/private/") {
			t.Errorf("%s: made %s", name, a.Receipt)
		}
	}
	says(check(func(c *Config) { c.Calendar = "Wrok" }), `no calendar "Wrok"`)
	says(check(func(c *Config) { c.Calendar = "Wrok" }), "Work")
	says(check(func(c *Config) { c.Calendar = "Todo" }), "does not accept events")
	says(check(func(c *Config) { c.Calendar = "/alice/" }), "not a calendar")
	says(check(func(c *Config) { c.Calendar = "/alice/nowhere/" }), "nothing at /alice/nowhere")
	says(check(func(c *Config) { c.Password = "wrong" }), "refuses the user or the password")
	makeCalendar(t, server+"/alice/work2/", "Work", event)
	says(check(func(c *Config) { c.Calendar = "Work" }), "2 calendars")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	says(connect(t, server, nil).Check(ctx), "was canceled")
}

// After a crash the entry is found, even if another calendar comes first now.
func TestRadicale_AnotherCalendarSince(t *testing.T) {
	server := radicale(t)
	makeCalendar(t, server+"/alice/work/", "Work", event)
	a := appointment(t, "2026-11-20T15:00:00+02:00")
	a.Attempts = 1
	do(t, connect(t, server, nil), a)
	for _, name := range []string{"a", "b", "x", "y", "z"} {
		makeCalendar(t, server+"/alice/"+name+"/", name, event)
	}
	retry := *a
	retry.Receipt, retry.Attempts = "", 2
	do(t, connect(t, server, nil), &retry)
	if retry.Receipt != a.Receipt {
		t.Errorf("created %s, and before %s", retry.Receipt, a.Receipt)
	}
	retry.Receipt = "" // and undone, even if the receipt was lost
	if o := connect(t, server, nil).Undo(t.Context(), &retry); o.Result != hearken.ResultOK {
		t.Errorf("undo: %+v", o)
	}
	if n := inCalendar(t, server+"/alice/work/"); n != 0 {
		t.Errorf("%d entries left", n)
	}
}
