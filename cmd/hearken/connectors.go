package main

import (
	"errors"
	"net/url"
	"os"
	"path"
	"strings"
	"time"
	_ "time/tzdata" // time zones even where the system has none

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act/alarm"
	"github.com/hearken-dev/hearken/action/calendar"
	"github.com/hearken-dev/hearken/action/message"
)

// connectors are the connectors that the settings name, with what else is
// built from the settings for actions.
type connectors struct {
	zone       *time.Location
	calendars  []hearken.Connector
	reminders  []hearken.Connector // get a copy of each reminder
	messengers []hearken.Connector
	notifiers  []alarm.Notifier
}

func (a *App) openConnectors() (c connectors, err error) {
	if c.zone, err = zoneOf(a.cfg.Timezone); err != nil {
		return c, err
	}
	if c.messengers, err = openMessengers(a.cfg); err != nil {
		return c, err
	}
	if c.calendars, c.reminders, err = a.openCalendars(); err != nil {
		return c, err
	}
	c.notifiers, err = a.notifiers(c.messengers)
	return c, err
}

// openMessengers opens the connectors for messages that are configured.
func openMessengers(c *Config) (messengers []hearken.Connector, err error) {
	add := func(connector hearken.Connector, openErr error) {
		messengers, err = append(messengers, connector), errors.Join(err, openErr)
	}
	if c.SMTPHost != "" {
		add(message.NewEmail(message.EmailConfig{
			Host: c.SMTPHost, Port: c.SMTPPort, User: c.SMTPUser, Password: c.SMTPPassword, From: c.SMTPFrom, CAFile: c.ActionsCAFile,
		}))
	}
	if c.TwilioAccountSID != "" {
		cfg := message.SMSConfig{AccountSID: c.TwilioAccountSID, Secret: c.TwilioAuthToken, From: c.TwilioFrom, BaseURL: c.TwilioBaseURL, CAFile: c.ActionsCAFile}
		if strings.HasPrefix(c.TwilioFrom, "MG") {
			cfg.From, cfg.ServiceSID = "", c.TwilioFrom
		}
		add(message.NewSMS(cfg))
	}
	if c.NtfyURL != "" {
		u, err := url.Parse(c.NtfyURL)
		if err != nil || u.Host == "" || path.Base(u.Path) == "/" || path.Base(u.Path) == "." {
			return nil, badValue("NTFY_URL", c.NtfyURL, "the address of a server with a topic, such as https://ntfy.example.org/topic")
		}
		topic := path.Base(u.Path)
		u.Path = strings.TrimSuffix(path.Dir(u.Path), "/")
		add(message.NewNtfy(message.NtfyConfig{Server: u.String(), Topic: topic, Token: c.NtfyToken, CAFile: c.ActionsCAFile}))
	}
	if c.WebhookURL != "" {
		add(message.NewWebhook(message.WebhookConfig{URL: c.WebhookURL, Secret: c.WebhookSecret, CAFile: c.ActionsCAFile}))
	}
	return messengers, err
}

// openCalendars returns the calendars, the default one first, and those that get
// a copy of each reminder.
func (a *App) openCalendars() (calendars, reminders []hearken.Connector, err error) {
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
		reminders = []hearken.Connector{dav}
	}
	return []hearken.Connector{dav, calendar.Builtin{Actions: a.store}}, reminders, nil
}

// zoneOf returns the named time zone, or this computer's by its IANA name, which
// repeating times need.
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
