package act

import (
	"bytes"
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

	"github.com/hearken-dev/hearken/test/hubtest"
)

const davUser, davPassword = "alice", "a password of the calendar"

// A radicale is the CalDAV server of that name with one calendar.
type radicale struct{ url string }

// startRadicale runs one until the test ends.
func startRadicale(t *testing.T) *radicale {
	t.Helper()
	program, err := exec.LookPath("radicale")
	if err != nil {
		t.Skip("radicale is not installed: no CalDAV server")
	}
	dir, address := t.TempDir(), fmt.Sprintf("127.0.0.1:%d", hubtest.FreePort(t))
	users, config := filepath.Join(dir, "users"), filepath.Join(dir, "radicale.conf")
	settings := fmt.Sprintf("[server]\nhosts=%s\nmax_connections=50\n[auth]\ntype=htpasswd\nhtpasswd_filename=%s\nhtpasswd_encryption=plain\ndelay=0\n"+
		"[rights]\ntype=owner_only\n[storage]\nfilesystem_folder=%s\n", address, users, filepath.Join(dir, "radicale"))
	for path, text := range map[string]string{users: davUser + ":" + davPassword + "\n", config: settings} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var log bytes.Buffer
	cmd := exec.Command(program, "-C", config)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		if t.Failed() {
			t.Logf("radicale: %s", &log)
		}
	})
	hubtest.WaitUntil(t, 30*time.Second, "radicale listens", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	r := &radicale{"http://" + address}
	r.request(t, "MKCALENDAR", `<C:mkcalendar xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:set><D:prop>`+
		`<D:displayname>Work</D:displayname><C:supported-calendar-component-set><C:comp name="VEVENT"/></C:supported-calendar-component-set>`+
		`</D:prop></D:set></C:mkcalendar>`)
	return r
}

// request sends a request about the calendar, past the hub.
func (r *radicale) request(t *testing.T, method, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, r.url+"/"+davUser+"/office/", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.SetBasicAuth(davUser, davPassword)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode/100 != 2 {
		t.Fatalf("%s: %s, %v: %.200s", method, resp.Status, err, data)
	}
	return string(data)
}

// env is the settings with which a hub uses this calendar.
func (r *radicale) env() []string {
	return []string{"CALDAV_URL=" + r.url + "/", "CALDAV_USER=" + davUser, "CALDAV_PASSWORD=" + davPassword}
}

// counts is how often each mark is in the calendar.
func (r *radicale) counts(t *testing.T) map[string]int {
	t.Helper()
	return countEvents(r.request(t, http.MethodGet, ""))
}

// countEvents counts the marks in the titles of a calendar's events.
func countEvents(calendar string) map[string]int {
	counts := map[string]int{}
	for line := range strings.Lines(calendar) {
		if title, ok := strings.CutPrefix(line, "SUMMARY:"); ok {
			counts[Mark(title)]++
		}
	}
	return counts
}
