package calendar

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
)

// A collection is a calendar on the server.
type collection struct {
	url      *url.URL // ends in a slash
	name     string
	kinds    []string // that it takes; nil for all
	readOnly bool
}

func (c collection) takes(kind string) bool {
	return !c.readOnly && (c.kinds == nil || slices.Contains(c.kinds, kind))
}

func (c collection) is(other collection) bool { return c.url.Path == other.url.Path }

// calendars finds the calendars of the user: from the address to who is signed
// in, from there to the home of the calendars, and what is in it. The address
// may be any of these, and if it is a calendar that is the first of them.
func (c *CalDAV) calendars(ctx context.Context) ([]collection, error) {
	start, at, err := c.describe(ctx, c.base)
	if c.base.Path == "/" && (isNoServer(err) || err == nil && start == nil) {
		start, at, err = c.describe(ctx, c.base.JoinPath(".well-known/caldav"))
	}
	if err != nil {
		return nil, err
	}
	if start == nil {
		return nil, rejected("What answers at %s knows of no calendars.", c.base).WithTry("the CalDAV address of your provider in CALDAV_URL")
	}
	var list []collection
	if start.Type.Calendar != nil {
		list = append(list, newCollection(at, start))
	}
	home, err := c.home(ctx, start, at)
	if err != nil || home == nil {
		return list, err
	}
	entries, at, err := c.ask(ctx, "PROPFIND", home, "1", propfind)
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
		if !slices.ContainsFunc(list, found.is) {
			list = append(list, found)
		}
	}
	return list, nil
}

// home is where the user's calendars are; nil if the server does not say.
func (c *CalDAV) home(ctx context.Context, start *props, at *url.URL) (*url.URL, error) {
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

// describe asks what is at an address; nil if it has nothing to do with
// calendars.
func (c *CalDAV) describe(ctx context.Context, u *url.URL) (*props, *url.URL, error) {
	entries, at, err := c.ask(ctx, "PROPFIND", u, "0", propfind)
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
		c.readOnly = !slices.ContainsFunc(p.Rights.List, func(r right) bool {
			return r.All != nil || r.Write != nil || r.Bind != nil
		})
	}
	return c
}

// pick chooses the calendar that is meant: by path, by the name that people
// see, or the first that takes such objects.
func (c *CalDAV) pick(ctx context.Context, list []collection, want, kind string) (collection, error) {
	what := map[string]string{event: "events", task: "tasks"}[kind]
	if want == "" {
		if i := slices.IndexFunc(list, func(o collection) bool { return o.takes(kind) }); i >= 0 {
			return list[i], nil
		}
		return collection{}, noCalendar(kind, "The calendar server %s has no calendar that takes %s and that this user may change.", c.base.Host, what)
	}
	found, err := c.named(ctx, list, want)
	if err == nil && !found.takes(kind) {
		err = noCalendar(kind, "The calendar %q takes no %s, or this user may not change it.", want, what)
	}
	return found, err
}

func noCalendar(kind, format string, args ...any) error {
	e := rejected(format, args...)
	if kind == task {
		return e.WithTry("CALDAV_REMINDERS=vevent, or make a list for tasks on the server")
	}
	return e.WithTry("make one on the server, and name it in CALDAV_CALENDAR")
}

// named finds the calendar of a name or path.
func (c *CalDAV) named(ctx context.Context, list []collection, want string) (collection, error) {
	if strings.HasPrefix(want, "/") || strings.Contains(want, "://") {
		u, err := c.resolve(c.base, want)
		if err != nil {
			return collection{}, err
		}
		for _, o := range list {
			if strings.Trim(o.url.Path, "/") == strings.Trim(u.Path, "/") {
				return o, nil
			}
		}
		// It may be somebody else's, which is not in the user's home.
		p, at, err := c.describe(ctx, u)
		if err != nil {
			return collection{}, err
		}
		if p == nil || p.Type.Calendar == nil {
			return collection{}, rejected("What is at %s is not a calendar.", want).WithTry("one of %s in CALDAV_CALENDAR", names(list))
		}
		return newCollection(at, p), nil
	}
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		var found []collection
		for _, o := range list {
			if same(o.name, want) || same(lastPart(o.url), want) {
				found = append(found, o)
			}
		}
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return collection{}, hearken.Errorf(hearken.Invalid, "%d calendars on the server are called %q.", len(found), want).
				WithTry("the path of one in CALDAV_CALENDAR, such as %s", found[0].url.EscapedPath())
		}
	}
	return collection{}, rejected("There is no calendar %q on the server.", want).WithTry("one of %s", names(list))
}

func lastPart(u *url.URL) string {
	path := strings.TrimSuffix(u.Path, "/")
	return path[strings.LastIndex(path, "/")+1:]
}

// names lists calendars for people, by the names that they see.
func names(list []collection) string {
	var all []string
	for _, o := range list {
		name := short(o.name, 40)
		if name == "" {
			name = o.url.EscapedPath()
		}
		all = append(all, name)
	}
	if len(all) == 0 {
		return "none: the server has no calendar"
	}
	return strings.Join(all[:min(len(all), 10)], ", ")
}
