package act

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
	"time"
)

const davUser, davPassword = "alice", "a password of the calendar"

// ErrNoRadicale says that the CalDAV server is not installed.
var ErrNoRadicale = errors.New("radicale is not installed: no CalDAV server")

// A Radicale is the CalDAV server of that name with one calendar.
type Radicale struct {
	URL   string
	cmd   *exec.Cmd
	ended chan struct{}
	log   bytes.Buffer
}

// OpenRadicale starts one on a free port, with its files in a directory.
func OpenRadicale(ctx context.Context, dir string) (*Radicale, error) {
	program, err := exec.LookPath("radicale")
	if err != nil {
		return nil, ErrNoRadicale
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := free.Addr().String()
	free.Close()
	users, config := filepath.Join(dir, "users"), filepath.Join(dir, "radicale.conf")
	if err := os.WriteFile(users, []byte(davUser+":"+davPassword+"\n"), 0o600); err != nil {
		return nil, err
	}
	settings := fmt.Sprintf("[server]\nhosts=%s\nmax_connections=50\n[auth]\ntype=htpasswd\nhtpasswd_filename=%s\nhtpasswd_encryption=plain\ndelay=0\n"+
		"[rights]\ntype=owner_only\n[storage]\nfilesystem_folder=%s\n", address, users, filepath.Join(dir, "radicale"))
	if err := os.WriteFile(config, []byte(settings), 0o600); err != nil {
		return nil, err
	}
	r := &Radicale{URL: "http://" + address, cmd: exec.Command(program, "-C", config), ended: make(chan struct{})}
	r.cmd.Stdout, r.cmd.Stderr = &r.log, &r.log
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(r.ended)
		_ = r.cmd.Wait() // how it ends is up to us
	}()
	if err := r.ready(ctx, address); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// ready waits for the server and makes the calendar.
func (r *Radicale) ready(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
			break
		}
		select {
		case <-r.ended:
			return fmt.Errorf("radicale ended: %s", r.log.String())
		default:
		}
		if !rest(ctx, 20*time.Millisecond) {
			return fmt.Errorf("radicale is not ready: %w", err)
		}
	}
	_, err := r.request(ctx, "MKCALENDAR", `<C:mkcalendar xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:set><D:prop>`+
		`<D:displayname>Work</D:displayname><C:supported-calendar-component-set><C:comp name="VEVENT"/></C:supported-calendar-component-set>`+
		`</D:prop></D:set></C:mkcalendar>`)
	return err
}

// request asks the server for something about the calendar, past the hub.
func (r *Radicale) request(ctx context.Context, method, body string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, method, r.URL+"/"+davUser+"/office/", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	req.SetBasicAuth(davUser, davPassword)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode/100 != 2 {
		err = fmt.Errorf("%s: %s: %.200s", method, resp.Status, data)
	}
	return string(data), err
}

// Env are the settings with which a hub keeps its calendar here.
func (r *Radicale) Env() []string {
	return []string{"CALDAV_URL=" + r.URL + "/", "CALDAV_USER=" + davUser, "CALDAV_PASSWORD=" + davPassword}
}

// Counts is how often each mark stands in the calendar.
func (r *Radicale) Counts(ctx context.Context) (map[string]int, error) {
	all, err := r.request(ctx, http.MethodGet, "")
	if err != nil {
		return nil, err
	}
	return CountEvents(all), nil
}

// CountEvents counts the marks in the titles of a calendar's events.
func CountEvents(calendar string) map[string]int {
	counts := map[string]int{}
	for line := range strings.Lines(calendar) {
		if title, ok := strings.CutPrefix(line, "SUMMARY:"); ok {
			counts[Mark(title)]++
		}
	}
	return counts
}

// Close ends the server.
func (r *Radicale) Close() {
	r.cmd.Process.Kill()
	<-r.ended
}
