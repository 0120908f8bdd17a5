package calendar

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
)

// Do writes an appointment or a reminder to the server. The receipt is the path
// of what was made, or the paths with a space between.
func (c *CalDAV) Do(ctx context.Context, a *hearken.Action) hearken.Outcome {
	objects, err := c.objects(a)
	if err != nil {
		return outcome(err)
	}
	var made []string
	for _, o := range objects {
		path, err := c.put(ctx, o, a.Attempts > 1)
		if err != nil {
			return c.takeBack(ctx, a, made, outcome(err))
		}
		made = append(made, path)
	}
	return hearken.Outcome{Result: hearken.ResultOK, Receipt: strings.Join(made, " ")}
}

// takeBack removes the first half of what cannot become whole, so that what
// failed surely did not happen.
func (c *CalDAV) takeBack(ctx context.Context, a *hearken.Action, made []string, o hearken.Outcome) hearken.Outcome {
	if len(made) == 0 || o.Result != hearken.ResultPermanent {
		return o
	}
	half := *a
	half.Receipt = strings.Join(made, " ")
	if undone := c.Undo(ctx, &half); undone.Result != hearken.ResultOK {
		return hearken.Outcome{Result: hearken.ResultUnknown, Receipt: half.Receipt,
			Message: o.Message + " The other half of the reminder is on the server: " + half.Receipt}
	}
	return o
}

// put makes sure that an object is on the server, and returns its path.
func (c *CalDAV) put(ctx context.Context, o object, again bool) (string, error) {
	if again {
		// An earlier attempt may have reached the server, and since then
		// another calendar may have become the one to use.
		if path, err := c.anywhere(ctx, o); path != "" || err != nil {
			return path, err
		}
	}
	path, err := c.create(ctx, o, false)
	if isGone(err) { // the calendar was removed or renamed since it was found
		path, err = c.create(ctx, o, true)
	}
	return path, err
}

func (c *CalDAV) create(ctx context.Context, o object, fresh bool) (string, error) {
	place, err := c.place(ctx, o, fresh)
	if err != nil {
		return "", err
	}
	u := place.url.JoinPath(o.fileName())
	a, err := c.send(ctx, http.MethodPut, u, map[string]string{
		"Content-Type":  "text/calendar; charset=utf-8",
		"If-None-Match": "*", // whatever is there is never replaced
	}, o.resource())
	if err != nil || a.status >= 500 {
		// It may have been taken and only the answer lost; often that can be
		// seen at once.
		if kept, err := c.get(ctx, u); err == nil && o.isOurs(kept.data) {
			return u.EscapedPath(), nil
		}
	}
	if err != nil {
		return "", err
	}
	switch {
	case a.status == http.StatusCreated, a.status == http.StatusNoContent:
		return a.url.EscapedPath(), nil
	case a.status == http.StatusPreconditionFailed, a.status/100 == 2, hasUIDConflict(a):
		// Either it was made by an earlier attempt, or the server has a way of
		// its own to say yes or no: one answers a clash of UIDs with 207, which
		// looks like success. What is there decides.
		return c.verify(ctx, place, o, a)
	case a.status == http.StatusConflict: // the calendar above it is missing
		a.status = http.StatusNotFound
	}
	return "", refusal(a)
}

func hasUIDConflict(a *answer) bool { return bytes.Contains(a.body, []byte("no-uid-conflict")) }

// verify looks whether an object is on the server after an answer that does
// not say so.
func (c *CalDAV) verify(ctx context.Context, place collection, o object, a *answer) (string, error) {
	kept, err := c.get(ctx, a.url)
	if err != nil && !isGone(err) {
		return "", err
	}
	if err == nil && o.isOurs(kept.data) {
		if !o.isUnchanged(kept.data) {
			c.cfg.Log.Info("calendar entry was made before and changed since", "action", o.a.ID)
		}
		return a.url.EscapedPath(), nil
	}
	path, err := c.byUID(ctx, place, o)
	if path != "" || err != nil {
		return path, err
	}
	return "", &failure{status: a.status, err: rejected("The calendar server %s answered %d, and the entry is not there.", a.url.Host, a.status)}
}

// byUID looks for an object in a calendar under whatever name the server gave
// it.
func (c *CalDAV) byUID(ctx context.Context, place collection, o object) (string, error) {
	filter := fmt.Sprintf(`<C:prop-filter name="UID"><C:text-match collation="i;octet">%s</C:text-match></C:prop-filter>`, o.uid)
	entries, at, err := c.ask(ctx, "REPORT", place.url, "1", fmt.Sprintf(query, o.kind, filter))
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if u, err := c.resolve(at, e.Href); err == nil && o.isOurs(e.props().Data) {
			return u.EscapedPath(), nil
		}
	}
	return "", nil
}

// anywhere looks for an object in every calendar that could hold it.
func (c *CalDAV) anywhere(ctx context.Context, o object) (string, error) {
	list, _, err := c.known(ctx, false)
	if err != nil {
		return "", err
	}
	// One that somebody shares need not be among the user's own.
	if place, err := c.place(ctx, o, false); err == nil && !slices.ContainsFunc(list, place.is) {
		list = append(slices.Clone(list), place)
	}
	for _, place := range list {
		if !place.takes(o.kind) {
			continue
		}
		u := place.url.JoinPath(o.fileName())
		kept, err := c.get(ctx, u)
		switch {
		case err == nil && o.isOurs(kept.data):
			return u.EscapedPath(), nil
		case hearken.CodeOf(err) == hearken.ProviderTemporary:
			return "", err
		}
	}
	return "", nil
}

// A resource is what the server keeps at an address.
type resource struct {
	url  *url.URL
	data string
	tag  string
}

func (c *CalDAV) get(ctx context.Context, u *url.URL) (resource, error) {
	a, err := c.send(ctx, http.MethodGet, u, nil, "")
	if err != nil {
		return resource{}, err
	}
	if a.status != http.StatusOK {
		return resource{}, refusal(a)
	}
	// Proxies that pack answers weaken the tag, and a weak one matches nothing.
	return resource{a.url, string(a.body), strings.TrimPrefix(a.header.Get("ETag"), "W/")}, nil
}
