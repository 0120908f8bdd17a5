package calendar

import (
	"cmp"
	"context"
	"crypto/tls"
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

// Config says which CalDAV server to use and how. URL is required.
type Config struct {
	// URL is the server, the user's home on it, or a calendar. It has to be
	// https, except on this computer.
	URL            string
	User, Password string
	CAFile         string // certificates to trust besides those of the system

	// Calendar is the name or the path of the calendar for appointments. Empty
	// for the first that takes them.
	Calendar string
	// ReminderCalendar is where reminders go, as far as it takes them. Empty
	// for the first that takes tasks, and Calendar for those that are events.
	ReminderCalendar string
	// Reminders is how they are written: vtodo, vevent, both, or off for not at
	// all. Empty for vtodo. Google and many phones know only events.
	Reminders string

	HTTPClient *http.Client // in place of one that knows CAFile
	Log        *slog.Logger
}

// CalDAV is the owner's calendar on a server.
type CalDAV struct {
	cfg    Config
	base   *url.URL
	client *http.Client

	mu   sync.Mutex
	list []collection // what was found on the server; nil if it has to be asked
}

// patience is how long a server may take for one answer.
const patience = 30 * time.Second

// NewCalDAV makes a connector. It does not yet talk to the server: see
// [CalDAV.Check].
func NewCalDAV(cfg Config) (*CalDAV, error) {
	base, err := url.Parse(cfg.URL)
	switch {
	case err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http":
		return nil, hearken.Errorf(hearken.Invalid, "CALDAV_URL is not the address of a server.").WithTry("CALDAV_URL=https://dav.example.org/")
	case base.User != nil:
		return nil, hearken.Errorf(hearken.Invalid, "CALDAV_URL holds a user or a password.").WithTry("CALDAV_USER and CALDAV_PASSWORD")
	case base.Scheme == "http" && !remote.IsLoopback(base.Hostname()):
		return nil, hearken.Errorf(hearken.Invalid, "CALDAV_URL would send the password to %s in the clear.", base.Host).WithTry("https:// in place of http://")
	}
	base = &url.URL{Scheme: base.Scheme, Host: base.Host, Path: cmp.Or(base.Path, "/"), RawPath: base.RawPath}
	cfg.Reminders = cmp.Or(cfg.Reminders, "vtodo")
	if !slices.Contains([]string{"vtodo", "vevent", "both", "off"}, cfg.Reminders) {
		return nil, hearken.Errorf(hearken.Invalid, "CALDAV_REMINDERS is %q.", cfg.Reminders).WithTry("vtodo, vevent, both or off")
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	client, err := newClient(cfg)
	if err != nil {
		return nil, err
	}
	return &CalDAV{cfg: cfg, base: base, client: client}, nil
}

func newClient(cfg Config) (*http.Client, error) {
	client := &http.Client{}
	if cfg.HTTPClient != nil {
		*client = *cfg.HTTPClient
	} else {
		roots, err := remote.CertPool(cfg.CAFile)
		if err != nil {
			return nil, hearken.Errorf(hearken.Invalid, "ACTIONS_CA_FILE cannot be read: %w", err).WithTry("a PEM file in ACTIONS_CA_FILE")
		}
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}
		transport.DisableCompression = true // a packed answer has another tag than what is kept
		client.Transport = transport
	}
	client.Timeout = cmp.Or(client.Timeout, patience)
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return client, nil
}

// Name is caldav.
func (c *CalDAV) Name() string { return "caldav" }

// Repeatable is true: see the package's comment.
func (c *CalDAV) Repeatable() bool { return true }

// objects are what an action becomes on the server.
func (c *CalDAV) objects(a *hearken.Action) ([]object, error) {
	all, err := possible(a)
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

// possible are all objects that an action may have become, whatever the
// settings were then.
func possible(a *hearken.Action) ([]object, error) {
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

// known are the calendars on the server, and whether they were found some time
// ago. They are looked for once, and again if fresh.
func (c *CalDAV) known(ctx context.Context, fresh bool) (list []collection, before bool, err error) {
	c.mu.Lock()
	list = c.list
	c.mu.Unlock()
	if list != nil && !fresh {
		return list, true, nil
	}
	if list, err = c.calendars(ctx); err != nil {
		return nil, false, err
	}
	c.mu.Lock()
	c.list = list
	c.mu.Unlock()
	return list, false, nil
}

// place is the calendar that an object belongs in. If there is none among
// those that were found before, somebody may have made it since.
func (c *CalDAV) place(ctx context.Context, o object, fresh bool) (collection, error) {
	list, before, err := c.known(ctx, fresh)
	if err != nil {
		return collection{}, err
	}
	found, err := c.choose(ctx, list, o)
	if err != nil && before {
		return c.place(ctx, o, true)
	}
	return found, err
}

// choose finds the calendar that the settings mean for an object.
func (c *CalDAV) choose(ctx context.Context, list []collection, o object) (collection, error) {
	if o.a.Reminder == nil {
		return c.pick(ctx, list, c.cfg.Calendar, event)
	}
	if c.cfg.ReminderCalendar != "" {
		found, err := c.named(ctx, list, c.cfg.ReminderCalendar)
		if err != nil || found.takes(o.kind) {
			return found, err
		}
		if c.cfg.Reminders != "both" {
			return c.pick(ctx, list, c.cfg.ReminderCalendar, o.kind) // says why not
		}
	}
	if o.kind == task {
		return c.pick(ctx, list, "", task)
	}
	return c.pick(ctx, list, c.cfg.Calendar, event)
}

// anAppointment stands for any, where only its place matters.
var anAppointment = object{kind: event, a: &hearken.Action{Appointment: &hearken.Appointment{}}}

// Check asks the server for everything that the settings need, and says in a
// sentence what is wrong.
func (c *CalDAV) Check(ctx context.Context) error {
	if _, _, err := c.known(ctx, true); err != nil {
		return err
	}
	checks := []object{anAppointment}
	if c.cfg.Reminders != "off" {
		reminders, err := c.objects(&hearken.Action{Reminder: &hearken.Reminder{}})
		if err != nil {
			return err
		}
		checks = append(checks, reminders...)
	}
	for _, o := range checks {
		if _, err := c.place(ctx, o, false); err != nil {
			return err
		}
	}
	return nil
}
