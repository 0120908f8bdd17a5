package calendar

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
)

// Do writes an appointment or a reminder to the server. The receipt is the path
// of what was created, or the paths with a space between.
func (c *CalDAV) Do(ctx context.Context, a *hearken.Action) hearken.Outcome {
	objects, err := c.objects(a)
	if err != nil {
		return outcome(err)
	}
	var paths []string
	for _, o := range objects {
		path, err := c.ensureStored(ctx, o, a.Attempts > 1)
		if err != nil {
			return c.undoPartial(ctx, a, paths, outcome(err))
		}
		paths = append(paths, path)
	}
	return hearken.Outcome{Result: hearken.ResultOK, Receipt: strings.Join(paths, " ")}
}

// undoPartial removes the first object of two if the second one failed for
// good, so that a failed action has no effect.
func (c *CalDAV) undoPartial(ctx context.Context, a *hearken.Action, created []string, o hearken.Outcome) hearken.Outcome {
	if len(created) == 0 || o.Result != hearken.ResultPermanent {
		return o
	}
	partial := *a
	partial.Receipt = strings.Join(created, " ")
	if undone := c.Undo(ctx, &partial); undone.Result != hearken.ResultOK {
		return hearken.Outcome{Result: hearken.ResultUnknown, Receipt: partial.Receipt,
			Message: o.Message + " The other half of the reminder is on the server: " + partial.Receipt}
	}
	return o
}

// ensureStored makes sure that an object is on the server, and returns its
// path.
func (c *CalDAV) ensureStored(ctx context.Context, o object, retry bool) (string, error) {
	if retry {
		// An earlier attempt may have reached the server, and the settings may
		// have named another calendar then.
		if path, err := c.findObject(ctx, o); path != "" || err != nil {
			return path, err
		}
	}
	path, err := c.createObject(ctx, o, false)
	if isNotFound(err) { // the calendar was removed or renamed since it was found
		path, err = c.createObject(ctx, o, true)
	}
	return path, err
}

func (c *CalDAV) createObject(ctx context.Context, o object, refresh bool) (string, error) {
	cal, err := c.calendarFor(ctx, o.kind, refresh)
	if err != nil {
		return "", err
	}
	u := cal.url.JoinPath(o.fileName())
	r, err := c.send(ctx, http.MethodPut, u, map[string]string{
		"Content-Type":  "text/calendar; charset=utf-8",
		"If-None-Match": "*", // never replaces anything
	}, o.resource())
	if err != nil || r.status >= 500 {
		// The server may have stored it, and only the response was lost. A look
		// often shows that at once.
		if stored, err := c.getResource(ctx, u); err == nil && o.hasUID(stored.data) {
			return u.EscapedPath(), nil
		}
	}
	if err != nil {
		return "", err
	}
	switch {
	case r.status == http.StatusCreated, r.status == http.StatusNoContent:
		return r.url.EscapedPath(), nil
	case r.status == http.StatusPreconditionFailed, r.status/100 == 2, hasUIDConflict(r):
		// Either an earlier attempt created it, or the server has a way of its
		// own to say yes or no: Xandikos answers a clash of UIDs with 207, which
		// looks like success. What is stored decides.
		return c.verifyStored(ctx, cal, o, r)
	case r.status == http.StatusConflict: // the calendar does not exist
		r.status = http.StatusNotFound
	}
	return "", statusError(r)
}

func hasUIDConflict(r *response) bool { return bytes.Contains(r.body, []byte("no-uid-conflict")) }

// verifyStored checks whether an object is on the server, after a response that
// does not say so.
func (c *CalDAV) verifyStored(ctx context.Context, cal collection, o object, r *response) (string, error) {
	stored, err := c.getResource(ctx, r.url)
	if err != nil && !isNotFound(err) {
		return "", err
	}
	if err == nil && o.hasUID(stored.data) {
		if !o.isUnchanged(stored.data) {
			c.cfg.Log.Info("calendar entry was created before and changed since", "action", o.action.ID)
		}
		return r.url.EscapedPath(), nil
	}
	path, err := c.findByUID(ctx, cal, o)
	if path != "" || err != nil {
		return path, err
	}
	return "", &failure{status: r.status, err: rejected("The calendar server %s answered %d, but the entry is not there.", r.url.Host, r.status)}
}

// findByUID searches a calendar for an object, whatever file name the server
// gave it.
func (c *CalDAV) findByUID(ctx context.Context, cal collection, o object) (string, error) {
	filter := fmt.Sprintf(`<C:prop-filter name="UID"><C:text-match collation="i;octet">%s</C:text-match></C:prop-filter>`, o.uid)
	entries, at, err := c.queryEntries(ctx, "REPORT", cal.url, "1", fmt.Sprintf(calendarQuery, o.kind, filter))
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if u, err := c.resolve(at, e.Href); err == nil && o.hasUID(e.props().Data) {
			return u.EscapedPath(), nil
		}
	}
	return "", nil
}

// findObject looks for an object in every calendar that could hold it.
func (c *CalDAV) findObject(ctx context.Context, o object) (string, error) {
	list, _, err := c.calendars(ctx, false)
	if err != nil {
		return "", err
	}
	// A shared calendar need not be among the user's own.
	if cal, err := c.calendarFor(ctx, o.kind, false); err == nil && !slices.ContainsFunc(list, cal.same) {
		list = append(slices.Clone(list), cal)
	}
	for _, cal := range list {
		if !cal.accepts(o.kind) {
			continue
		}
		u := cal.url.JoinPath(o.fileName())
		stored, err := c.getResource(ctx, u)
		switch {
		case err == nil && o.hasUID(stored.data):
			return u.EscapedPath(), nil
		case hearken.CodeOf(err) == hearken.ProviderTemporary:
			return "", err
		}
	}
	return "", nil
}

// A resource is what the server stores at a URL.
type resource struct {
	url  *url.URL
	data string
	etag string
}

func (c *CalDAV) getResource(ctx context.Context, u *url.URL) (resource, error) {
	r, err := c.send(ctx, http.MethodGet, u, nil, "")
	if err != nil {
		return resource{}, err
	}
	if r.status != http.StatusOK {
		return resource{}, statusError(r)
	}
	// Proxies that compress make the tag weak, and a weak tag matches nothing.
	return resource{r.url, string(r.body), strings.TrimPrefix(r.header.Get("ETag"), "W/")}, nil
}

// Undo removes what an action created on the server. If a person has changed
// any of it since, Undo removes nothing, and the outcome says so.
func (c *CalDAV) Undo(ctx context.Context, a *hearken.Action) hearken.Outcome {
	found, err := c.unchangedResources(ctx, a)
	if err != nil {
		return outcome(err)
	}
	for _, r := range found {
		if err := c.deleteResource(ctx, r); err != nil {
			return outcome(err)
		}
	}
	return hearken.Outcome{Result: hearken.ResultOK, Receipt: a.Receipt}
}

// unchangedResources finds what is left of an action on the server. It fails if
// any of it was changed.
func (c *CalDAV) unchangedResources(ctx context.Context, a *hearken.Action) ([]resource, error) {
	objects, err := possibleObjects(a)
	if err != nil {
		return nil, err
	}
	paths, err := c.objectPaths(ctx, a.Receipt, objects)
	if err != nil {
		return nil, err
	}
	var found []resource
	for _, p := range paths {
		u, err := c.resolve(c.base, p)
		if err != nil {
			return nil, err
		}
		r, err := c.getResource(ctx, u)
		if isNotFound(err) {
			continue // already removed
		}
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(objects, func(o object) bool { return o.isUnchanged(r.data) }) {
			return nil, changedError(u)
		}
		found = append(found, r)
	}
	return found, nil
}

// objectPaths are where an action's objects are, by its receipt. The receipt of
// another connector, whose action was only copied here, does not say that; then
// the objects are searched.
func (c *CalDAV) objectPaths(ctx context.Context, receipt string, objects []object) ([]string, error) {
	if strings.HasPrefix(receipt, "/") {
		return strings.Fields(receipt), nil
	}
	var paths []string
	for _, o := range objects {
		p, err := c.findObject(ctx, o)
		if err != nil {
			return nil, err
		}
		if p != "" {
			paths = append(paths, p)
		}
	}
	return paths, nil
}

func changedError(u *url.URL) error {
	return &failure{err: hearken.Errorf(hearken.ActionCannotBeUndone, "%s was changed on the calendar server since, so it was left there.", path.Base(u.Path)).
		WithTry("delete it in your calendar if you no longer want it")}
}

// deleteResource deletes a resource if it is still what getResource read.
func (c *CalDAV) deleteResource(ctx context.Context, res resource) error {
	header := map[string]string{}
	if res.etag != "" {
		header["If-Match"] = res.etag
	}
	r, err := c.send(ctx, http.MethodDelete, res.url, header, "")
	if err != nil {
		return err
	}
	switch r.status {
	case http.StatusOK, http.StatusNoContent, http.StatusNotFound, http.StatusGone:
		return nil
	case http.StatusPreconditionFailed:
		return changedError(res.url)
	}
	return statusError(r)
}
