package calendar

import (
	"cmp"
	"context"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
)

// A collection is a calendar on the server.
type collection struct {
	url      *url.URL // ends in a slash
	name     string
	kinds    []string // that it accepts; nil for all
	readOnly bool
}

func (c collection) accepts(kind string) bool {
	return !c.readOnly && (c.kinds == nil || slices.Contains(c.kinds, kind))
}

func (c collection) same(other collection) bool { return c.url.Path == other.url.Path }

// discover finds the user's calendars: from the URL to the user's principal,
// from there to the calendar home, and to what is in it. The URL may be any of
// these. If it is a calendar, that is the first of the list.
func (c *CalDAV) discover(ctx context.Context) ([]collection, error) {
	start, at, err := c.describe(ctx, c.base)
	if c.base.Path == "/" && (isNotWebDAV(err) || err == nil && start == nil) {
		start, at, err = c.describe(ctx, c.base.JoinPath(".well-known/caldav"))
	}
	if err != nil {
		return nil, err
	}
	if start == nil {
		return nil, rejected("The server at %s has no calendars.", c.base).WithTry("the CalDAV address of your provider in CALDAV_URL")
	}
	var list []collection
	if start.Type.Calendar != nil {
		list = append(list, newCollection(at, start))
	}
	home, err := c.findHome(ctx, start, at)
	if err != nil || home == nil {
		return list, err
	}
	entries, at, err := c.queryEntries(ctx, "PROPFIND", home, "1", propfind)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		p := e.props()
		u, err := c.resolve(at, e.Href)
		if p.Type.Calendar == nil || err != nil {
			continue
		}
		found := newCollection(u, &p)
		if !slices.ContainsFunc(list, found.same) {
			list = append(list, found)
		}
	}
	return list, nil
}

// findHome is the URL of the user's calendar home; nil if the server does not
// say.
func (c *CalDAV) findHome(ctx context.Context, start *props, at *url.URL) (*url.URL, error) {
	if start.Home.Href == "" && start.Principal != "" {
		u, err := c.resolve(at, start.Principal)
		if err != nil {
			return nil, err
		}
		if start, at, err = c.describe(ctx, u); err != nil {
			return nil, err
		}
	}
	if start == nil || start.Home.Href == "" {
		return nil, nil
	}
	return c.resolve(at, start.Home.Href)
}

// describe returns the properties of a URL; nil if it has nothing to do with
// calendars.
func (c *CalDAV) describe(ctx context.Context, u *url.URL) (*props, *url.URL, error) {
	entries, at, err := c.queryEntries(ctx, "PROPFIND", u, "0", propfind)
	if err != nil || len(entries) == 0 {
		return nil, at, err
	}
	p := entries[0].props()
	if p.Type.Calendar == nil && p.Home.Href == "" && p.Principal == "" {
		return nil, at, nil
	}
	return &p, at, nil
}

func newCollection(u *url.URL, p *props) collection {
	c := collection{url: u, name: p.Name}
	if !strings.HasSuffix(u.Path, "/") {
		c.url = u.JoinPath("/")
	}
	if p.Kinds != nil && len(p.Kinds.List) > 0 {
		c.kinds = []string{}
		for _, k := range p.Kinds.List {
			c.kinds = append(c.kinds, strings.ToUpper(k.Name))
		}
	}
	if p.Rights != nil {
		c.readOnly = !slices.ContainsFunc(p.Rights.List, func(r privilege) bool {
			return r.All != nil || r.Write != nil || r.Bind != nil
		})
	}
	return c
}

// pickCalendar chooses a calendar by its path or by the name that people see.
// Without a name it is the first that accepts objects of the kind.
func (c *CalDAV) pickCalendar(ctx context.Context, list []collection, name, kind string) (collection, error) {
	what := map[string]string{event: "events", task: "tasks"}[kind]
	if name == "" {
		if i := slices.IndexFunc(list, func(o collection) bool { return o.accepts(kind) }); i >= 0 {
			return list[i], nil
		}
		return collection{}, noCalendar(kind, "The calendar server %s has no calendar for %s that this user may change.", c.base.Host, what)
	}
	found, err := c.findCalendar(ctx, list, name)
	if err == nil && !found.accepts(kind) {
		err = noCalendar(kind, "The calendar %q does not accept %s, or this user may not change it.", name, what)
	}
	return found, err
}

func noCalendar(kind, format string, args ...any) error {
	e := rejected(format, args...)
	if kind == task {
		return e.WithTry("CALDAV_REMINDERS=vevent, or create a task list on the server")
	}
	return e.WithTry("create one on the server and name it in CALDAV_CALENDAR")
}

// findCalendar finds a calendar by its name or path.
func (c *CalDAV) findCalendar(ctx context.Context, list []collection, name string) (collection, error) {
	if strings.HasPrefix(name, "/") || strings.Contains(name, "://") {
		u, err := c.resolve(c.base, name)
		if err != nil {
			return collection{}, err
		}
		for _, o := range list {
			if strings.Trim(o.url.Path, "/") == strings.Trim(u.Path, "/") {
				return o, nil
			}
		}
		// A calendar that somebody else shares is not in the user's home.
		p, at, err := c.describe(ctx, u)
		if err != nil {
			return collection{}, err
		}
		if p == nil || p.Type.Calendar == nil {
			return collection{}, rejected("%s is not a calendar.", name).WithTry("one of %s in CALDAV_CALENDAR", calendarNames(list))
		}
		return newCollection(at, p), nil
	}
	for _, equal := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		var found []collection
		for _, o := range list {
			if equal(o.name, name) || equal(path.Base(o.url.Path), name) {
				found = append(found, o)
			}
		}
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return collection{}, hearken.Errorf(hearken.Invalid, "The server has %d calendars with the name %q.", len(found), name).
				WithTry("the path of one in CALDAV_CALENDAR, such as %s", found[0].url.EscapedPath())
		}
	}
	return collection{}, rejected("The server has no calendar %q.", name).WithTry("one of %s", calendarNames(list))
}

// calendarNames lists calendars for people.
func calendarNames(list []collection) string {
	var all []string
	for _, o := range list {
		all = append(all, cmp.Or(shortLine(o.name, 40), o.url.EscapedPath()))
	}
	return cmp.Or(strings.Join(all[:min(len(all), 10)], ", "), "none: the server has no calendar")
}
