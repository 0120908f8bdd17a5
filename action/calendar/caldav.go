package calendar

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/remote"
)

var (
	_ hearken.Connector = (*CalDAV)(nil)
	_ hearken.Undoer    = (*CalDAV)(nil)
)

// Config configures [CalDAV]. URL is required.
type Config struct {
	// URL is the server, the user's home on it, or a calendar. It must be https,
	// except on this computer.
	URL            string
	User, Password string
	CAFile         string // certificates to trust in addition to the system's

	// Calendar is the name or path of the calendar for appointments. Empty means
	// the first that accepts events.
	Calendar string
	// Reminders is how they are written: vtodo, vevent, both, or off for not at
	// all. Empty means vtodo. Google and many phones support only events. Tasks
	// go to the first calendar that accepts them.
	Reminders string

	Log *slog.Logger
}

// CalDAV is the owner's calendar on a server.
type CalDAV struct {
	cfg    Config
	base   *url.URL
	client *http.Client

	mu    sync.Mutex
	found []collection // the calendars on the server; nil before the first request
}

// requestTimeout is how long a server may take for one response.
const requestTimeout = 30 * time.Second

// NewCalDAV makes a connector. It does not connect to the server: see
// [CalDAV.Check].
func NewCalDAV(cfg Config) (*CalDAV, error) {
	base, err := url.Parse(cfg.URL)
	switch {
	case err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http":
		return nil, hearken.Errorf(hearken.Invalid, "CALDAV_URL is not the URL of a server.").WithTry("CALDAV_URL=https://dav.example.org/")
	case base.User != nil:
		return nil, hearken.Errorf(hearken.Invalid, "CALDAV_URL contains a user or a password.").WithTry("CALDAV_USER and CALDAV_PASSWORD")
	case base.Scheme == "http" && !remote.IsLoopback(base.Hostname()):
		return nil, hearken.Errorf(hearken.Invalid, "With CALDAV_URL the password would be sent to %s in the clear.", base.Host).WithTry("https:// in place of http://")
	}
	base = &url.URL{Scheme: base.Scheme, Host: base.Host, Path: cmp.Or(base.Path, "/"), RawPath: base.RawPath}
	cfg.Reminders = cmp.Or(cfg.Reminders, "vtodo")
	if !slices.Contains([]string{"vtodo", "vevent", "both", "off"}, cfg.Reminders) {
		return nil, hearken.Errorf(hearken.Invalid, "CALDAV_REMINDERS is %q.", cfg.Reminders).WithTry("vtodo, vevent, both or off")
	}
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	client, err := newClient(cfg)
	if err != nil {
		return nil, err
	}
	return &CalDAV{cfg: cfg, base: base, client: client}, nil
}

func newClient(cfg Config) (*http.Client, error) {
	roots, err := remote.CertPool(cfg.CAFile)
	if err != nil {
		return nil, hearken.Errorf(hearken.Invalid, "ACTIONS_CA_FILE cannot be read: %w", err).WithTry("a PEM file in ACTIONS_CA_FILE")
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}
	transport.DisableCompression = true // a compressed response has another ETag
	return &http.Client{
		Transport: transport, Timeout: requestTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// Name is caldav.
func (c *CalDAV) Name() string { return "caldav" }

// Repeatable is true: see the package's comment.
func (c *CalDAV) Repeatable() bool { return true }

// objects are what an action becomes on the server, by the settings.
func (c *CalDAV) objects(a *hearken.Action) ([]object, error) {
	all, err := possibleObjects(a)
	if err != nil || a.Reminder == nil {
		return all, err
	}
	switch c.cfg.Reminders {
	case "vtodo":
		return all[:1], nil
	case "vevent":
		return all[1:], nil
	case "off":
		return nil, rejected("Reminders are not written to the calendar server.").WithTry("CALDAV_REMINDERS=vtodo")
	}
	return all, nil
}

// possibleObjects are all objects that an action may have become, under any
// settings.
func possibleObjects(a *hearken.Action) ([]object, error) {
	if a.Reminder == nil {
		o, err := newObject(a, event, "")
		return []object{o}, err
	}
	t, err := newObject(a, task, "")
	if err != nil {
		return nil, err
	}
	e, err := newObject(a, event, "-event")
	return []object{t, e}, err
}

// calendars are the calendars on the server, and whether the list is cached. It
// is cached after the first time; refresh asks the server again.
func (c *CalDAV) calendars(ctx context.Context, refresh bool) (list []collection, cached bool, err error) {
	c.mu.Lock()
	list = c.found
	c.mu.Unlock()
	if list != nil && !refresh {
		return list, true, nil
	}
	if list, err = c.discover(ctx); err != nil {
		return nil, false, err
	}
	c.mu.Lock()
	c.found = list
	c.mu.Unlock()
	return list, false, nil
}

// calendarFor is the calendar for objects of a kind. If the cached list has
// none, it asks the server again: somebody may have created it since.
func (c *CalDAV) calendarFor(ctx context.Context, kind string, refresh bool) (collection, error) {
	list, cached, err := c.calendars(ctx, refresh)
	if err != nil {
		return collection{}, err
	}
	name := c.cfg.Calendar
	if kind == task {
		name = "" // the first that accepts tasks
	}
	found, err := c.pickCalendar(ctx, list, name, kind)
	if err != nil && cached {
		return c.calendarFor(ctx, kind, true)
	}
	return found, err
}

// Check asks the server for everything that the settings need, and returns what
// is wrong.
func (c *CalDAV) Check(ctx context.Context) error {
	if _, err := c.calendarFor(ctx, event, true); err != nil {
		return err
	}
	if c.cfg.Reminders == "vtodo" || c.cfg.Reminders == "both" {
		_, err := c.calendarFor(ctx, task, false)
		return err
	}
	return nil
}

// calendarQuery is a REPORT for the objects of a kind that match a filter.
const calendarQuery = `<?xml version="1.0" encoding="utf-8"?>
<C:calendar-query xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">
<D:prop><D:getetag/><C:calendar-data/></D:prop>
<C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="%s">%s</C:comp-filter></C:comp-filter></C:filter>
</C:calendar-query>`

const (
	maxConflicts    = 5
	conflictTimeout = 3 * time.Second
)

// Conflicts lists the titles of busy events between start and end in the
// calendar for appointments, at most five. It is a hint for the person who
// decides, and takes at most three seconds.
func (c *CalDAV) Conflicts(ctx context.Context, start, end time.Time) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, conflictTimeout)
	defer cancel()
	cal, err := c.calendarFor(ctx, event, false)
	if err != nil {
		return nil, err
	}
	span := fmt.Sprintf(`<C:time-range start="%s" end="%s"/>`, start.UTC().Format(utcLayout), end.UTC().Format(utcLayout))
	entries, _, err := c.queryEntries(ctx, "REPORT", cal.url, "1", fmt.Sprintf(calendarQuery, event, span))
	if err != nil {
		return nil, err
	}
	var titles []string
	for _, e := range entries {
		for _, v := range parseComponents(e.props().Data) {
			if v.kind != event || v.text("TRANSP") == "TRANSPARENT" || v.text("STATUS") == "CANCELLED" {
				continue
			}
			titles = appendConflict(titles, cmp.Or(shortLine(v.text("SUMMARY"), 80), "an event without a title"))
		}
	}
	return titles, nil
}

func appendConflict(titles []string, title string) []string {
	if len(titles) == maxConflicts || slices.Contains(titles, title) {
		return titles
	}
	return append(titles, title)
}
