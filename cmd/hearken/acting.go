package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // zones also where the system has none

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	alarm "github.com/hearken-dev/hearken/act/clock"
	"github.com/hearken-dev/hearken/action/calendar"
	"github.com/hearken-dev/hearken/action/message"
	"github.com/hearken-dev/hearken/action/reminder"
	"github.com/hearken-dev/hearken/api"
	"github.com/hearken-dev/hearken/audit"
	"github.com/hearken-dev/hearken/mcpserver"
	"github.com/hearken-dev/hearken/owner"
	"github.com/hearken-dev/hearken/web"
)

// acting is the part of the hub that does things. A short command has it from
// the moment it asks for it; see [App.acts].
type acting struct {
	opening  sync.Mutex // for short commands
	lasting  bool       // whether this is a hub, and no short command
	late     Options    // with which a short command opens it
	refusals act.RefusalThrottle

	desk   *act.Queue // nil where nothing can be done
	unable error      // and why
	owner  *owner.Owner
	clock  *alarm.Clock
	feed   *calendar.Feed // nil if it cannot be served

	desktop  *reminder.Desktop
	page     *web.Handler
	setup    string // the code with which the page may set the first PIN
	stateKey []byte // seals what clients carry between a question and its answer

	audit    hearken.Audit
	auditLog *audit.Log // nil if the audit cannot be written
}

// means are the ways to do things that the settings name.
type means struct {
	zone       *time.Location
	calendars  []hearken.Connector
	copies     []hearken.Connector // of reminders
	messengers []hearken.Connector
	notifiers  []alarm.Notifier
}

// openActing opens what actions need. Only wrong settings are an error. A hub
// that cannot act for another reason, such as a directory that cannot be
// written or a store that belongs to another owner, still hears and remembers.
func (a *App) openActing(ctx context.Context, opts Options) error {
	a.desktop = reminder.NewDesktop(os.Getenv)
	m, err := a.openMeans()
	if err != nil {
		return err
	}
	if a.unable = a.openDesk(ctx, m, opts); a.unable != nil {
		if err := a.closeActing(ctx); err != nil {
			a.log.Warn("what actions need was not closed", "error", err)
		}
		a.desk, a.clock, a.auditLog, a.audit = nil, nil, nil, nil
	}
	return nil
}

func (a *App) openMeans() (m means, err error) {
	if m.zone, err = zoneOf(a.cfg.Timezone); err != nil {
		return m, err
	}
	if m.messengers, err = openMessengers(a.cfg); err != nil {
		return m, err
	}
	if m.calendars, m.copies, err = a.openCalendars(); err != nil {
		return m, err
	}
	m.notifiers, err = a.notifiers(m.messengers)
	return m, err
}

func (a *App) openDesk(ctx context.Context, m means, opts Options) (err error) {
	c := a.cfg
	if a.owner, err = owner.Open(owner.Config{
		KeyDir: c.KeyDir, Store: a.store, StoreName: c.storeName(), DataDir: c.DataDir, Rounds: opts.PINRounds, Now: a.now,
	}); err != nil {
		return err
	}
	ownerReplaced, err := a.owner.Replaced(ctx)
	if err != nil {
		return err
	}
	if a.auditLog, err = audit.Open(audit.Config{Dir: a.auditDir(), KeyDir: c.KeyDir, Now: a.now, Log: a.log}); err != nil {
		a.log.Error("no audit; no action is carried out", "error", err)
		a.audit = noAudit{err}
	} else {
		a.audit = a.auditLog
	}
	if a.clock, err = alarm.Open(ctx, alarm.Config{Store: a.store, Audit: a.audit, Notifiers: m.notifiers, Log: a.log, Now: a.now, Failpoint: opts.Fault}); err != nil {
		return err
	}
	if a.desk, err = act.Open(ctx, act.Config{
		Dir: c.DataDir, Store: a.store, Audit: a.audit, Transcripts: a.hub,
		Calendars: m.calendars, Messengers: m.messengers, Reminders: append([]hearken.Connector{a.clock}, m.copies...),
		CallingCode: c.CountryCode,
		Zone:        m.zone, Approval: time.Duration(c.ApprovalMinutes * float64(time.Minute)),
		Retention:     time.Duration(c.ActionDays) * 24 * time.Hour,
		FarRecipients: c.FarRecipients == "ask",
		Delay:         time.Duration(c.GrantDelaySeconds * float64(time.Second)),
		NewOwner:      ownerReplaced,
		NoNotifier:    a.unheard,
		OnPending:     a.asked,
		Log:           a.log, Now: a.now, Failpoint: opts.Fault,
	}); err != nil {
		return err
	}
	if ownerReplaced {
		a.noted(ctx, hearken.AuditRecord{Type: hearken.AuditOwner, State: "replaced", From: "file"})
		if err := a.owner.SaveToStore(ctx); err != nil {
			return err
		}
	}
	if a.feed, err = calendar.NewFeed(calendar.FeedConfig{Dir: c.DataDir, Actions: a.desk, Log: a.log, Now: a.now}); err != nil {
		a.log.Error("the calendar is not served", "error", err)
	}
	a.stateKey = keptKey(filepath.Join(c.KeyDir, "state.key"))
	if !a.owner.HasPIN() {
		a.setup = rand.Text()
	}
	a.page = web.New(web.Config{
		Queue: a.desk, Owner: a.owner, SetupCode: func() string { return a.setup }, Keys: a.store, Transcripts: a.hub,
		Audit: a.audit, PublicURL: c.PublicURL, Log: a.log, Now: a.now,
	})
	return nil
}

// acts has the part of the hub that does things there.
func (a *App) acts(ctx context.Context) error {
	a.opening.Lock()
	defer a.opening.Unlock()
	if a.desk == nil && a.unable == nil {
		if err := a.openActing(ctx, a.late); err != nil {
			return err
		}
	}
	return a.unable
}

// actor is the desk for agents; nil if there is none.
func (a *App) actor() mcpserver.ActionQueue {
	if a.desk == nil {
		return nil
	}
	return a.desk
}

// mountActing opens the page and the calendar. Both ask for their own secret,
// the PIN and the address itself, and for no key.
func (a *App) mountActing(doors *api.API) {
	if a.desk == nil {
		return
	}
	for _, r := range a.page.Routes() {
		doors.Mount(r.Pattern, r.Handler, api.Access{Open: true, Stream: r.Stream})
	}
	if a.feed != nil {
		doors.Mount("GET "+calendar.FeedPattern, a.feed, api.Access{Open: true})
	}
}

// keptKey reads a secret key of this hub, and makes it at the first time. One
// that cannot be kept holds until the hub ends.
func keptKey(path string) []byte {
	key, err := os.ReadFile(path)
	if err == nil && len(key) >= 32 {
		return key
	}
	key = make([]byte, 32)
	rand.Read(key)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
		_ = os.WriteFile(path, key, 0o600)
	}
	return key
}

// limited writes of a key that asks too often.
func (a *App) limited(principal string) {
	a.noted(context.Background(), hearken.AuditRecord{Type: hearken.AuditLimited, Principal: principal})
}

// turnedAway writes of those whom a door did not let in.
func (a *App) turnedAway(ctx context.Context, addr, route string, code hearken.Code) {
	a.refusal(ctx, hearken.AuditRecord{From: addr, Target: route, Error: string(code)})
}

// refused writes of somebody who asked for an action and may not act.
func (a *App) refused(ctx context.Context, principal, tool string, code hearken.Code) {
	a.refusal(ctx, hearken.AuditRecord{Principal: principal, Tool: tool, Error: string(code)})
}

// refusal writes of somebody who was refused, and of a flood of them only that
// there was one.
func (a *App) refusal(ctx context.Context, r hearken.AuditRecord) {
	pass, last := a.refusals.Allow(a.now())
	if !pass {
		return
	}
	r.Type = hearken.AuditRefused
	if last {
		r.State = act.RefusalsOmitted
	}
	a.noted(ctx, r)
}

// closeActing ends it, the audit last.
func (a *App) closeActing(ctx context.Context) error {
	var errs []error
	if a.desk != nil {
		errs = append(errs, a.desk.Close(ctx))
	}
	if a.clock != nil {
		errs = append(errs, a.clock.Close(ctx))
	}
	if a.auditLog != nil {
		if a.lasting {
			a.noted(ctx, hearken.AuditRecord{Type: hearken.AuditHub, State: "stopped"})
		}
		errs = append(errs, a.auditLog.Close())
	}
	return errors.Join(errs...)
}

func (a *App) auditDir() string { return filepath.Join(a.cfg.DataDir, "audit") }

// noted writes of something that has happened. What cannot be written stops
// actions, which the desk finds out by itself.
func (a *App) noted(ctx context.Context, r hearken.AuditRecord) {
	if a.audit == nil {
		return // it is not ours to write
	}
	if err := a.audit.Append(context.WithoutCancel(ctx), r); err != nil {
		a.log.Error("not in the audit", "type", r.Type, "error", err)
	}
}

// auditOf reads the lines of the audit about one action.
func (a *App) auditOf(_ context.Context, action string, yield func(line []byte) error) error {
	var lines bytes.Buffer
	if err := audit.Export(a.auditDir(), &lines, audit.Filter{Action: action}); err != nil {
		return err
	}
	for line := range bytes.Lines(lines.Bytes()) {
		if err := yield(line); err != nil {
			return err
		}
	}
	return nil
}

// noAudit is an audit that cannot be written.
type noAudit struct{ err error }

func (n noAudit) Append(context.Context, hearken.AuditRecord) error { return n.err }

// openMessengers makes those connectors for messages that are set up.
func openMessengers(c *Config) ([]hearken.Connector, error) {
	var out []hearken.Connector
	add := func(connector hearken.Connector, err error) error {
		if err == nil {
			out = append(out, connector)
		}
		return err
	}
	if c.SMTPHost != "" {
		if err := add(message.NewEmail(message.EmailConfig{
			Host: c.SMTPHost, Port: c.SMTPPort, User: c.SMTPUser, Password: c.SMTPPassword, From: c.SMTPFrom, CAFile: c.ActionsCAFile,
		})); err != nil {
			return nil, err
		}
	}
	if c.TwilioAccountSID != "" {
		cfg := message.SMSConfig{AccountSID: c.TwilioAccountSID, Secret: c.TwilioAuthToken, From: c.TwilioFrom, BaseURL: c.TwilioBaseURL, CAFile: c.ActionsCAFile}
		if strings.HasPrefix(c.TwilioFrom, "MG") {
			cfg.From, cfg.ServiceSID = "", c.TwilioFrom
		}
		if err := add(message.NewSMS(cfg)); err != nil {
			return nil, err
		}
	}
	if c.NtfyURL != "" {
		u, err := url.Parse(c.NtfyURL)
		if err != nil || u.Host == "" || path.Base(u.Path) == "/" || path.Base(u.Path) == "." {
			return nil, badValue("NTFY_URL", c.NtfyURL, "the address of a server with a topic, such as https://ntfy.example.org/topic")
		}
		topic := path.Base(u.Path)
		u.Path = strings.TrimSuffix(path.Dir(u.Path), "/")
		if err := add(message.NewNtfy(message.NtfyConfig{Server: u.String(), Topic: topic, Token: c.NtfyToken, CAFile: c.ActionsCAFile})); err != nil {
			return nil, err
		}
	}
	if c.WebhookURL != "" {
		if err := add(message.NewWebhook(message.WebhookConfig{URL: c.WebhookURL, Secret: c.WebhookSecret, CAFile: c.ActionsCAFile})); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// openCalendars makes the calendars, the one that is used first, and those
// that get copies of reminders.
func (a *App) openCalendars() (calendars, copies []hearken.Connector, err error) {
	c := a.cfg
	if c.CaldavURL == "" {
		return []hearken.Connector{calendar.Builtin{Actions: a.store}}, nil, nil
	}
	dav, err := calendar.NewCalDAV(calendar.Config{
		URL: c.CaldavURL, User: c.CaldavUser, Password: c.CaldavPassword, CAFile: c.ActionsCAFile,
		Calendar: c.CaldavCalendar, Reminders: c.CaldavReminders, Log: a.log,
	})
	if err != nil {
		return nil, nil, err
	}
	if c.CaldavReminders != "off" {
		copies = []hearken.Connector{dav}
	}
	return []hearken.Connector{dav, calendar.Builtin{Actions: a.store}}, copies, nil
}

// zoneOf finds the zone in which times are meant: the named one, or this
// computer's by its IANA name, which repeating times need.
func zoneOf(name string) (*time.Location, error) {
	if name != "" {
		zone, err := time.LoadLocation(name)
		if err != nil || name == "Local" {
			return nil, badValue("TIMEZONE", name, "the name of a zone, such as Europe/Berlin")
		}
		return zone, nil
	}
	candidates := []string{strings.TrimPrefix(os.Getenv("TZ"), ":")}
	if link, err := os.Readlink("/etc/localtime"); err == nil {
		if _, after, ok := strings.Cut(link, "zoneinfo/"); ok {
			candidates = append(candidates, after)
		}
	}
	if data, err := os.ReadFile("/etc/timezone"); err == nil {
		candidates = append(candidates, strings.TrimSpace(string(data)))
	}
	for _, name := range candidates {
		if name == "" || name == "Local" {
			continue
		}
		if zone, err := time.LoadLocation(name); err == nil {
			return zone, nil
		}
	}
	return time.UTC, nil
}
