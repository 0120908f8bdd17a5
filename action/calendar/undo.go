package calendar

import (
	"context"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
)

// Undo removes from the server what an action made. What a person changed there
// since is left, and so is all the rest of the action; the outcome says so.
func (c *CalDAV) Undo(ctx context.Context, a *hearken.Action) hearken.Outcome {
	found, err := c.made(ctx, a)
	if err != nil {
		return outcome(err)
	}
	for _, r := range found {
		if err := c.remove(ctx, r); err != nil {
			return outcome(err)
		}
	}
	return hearken.Outcome{Result: hearken.ResultOK, Receipt: a.Receipt}
}

// made finds what is left of an action on the server, and that nobody changed
// it.
func (c *CalDAV) made(ctx context.Context, a *hearken.Action) ([]resource, error) {
	objects, err := possible(a)
	if err != nil {
		return nil, err
	}
	paths, err := c.paths(ctx, a.Receipt, objects)
	if err != nil {
		return nil, err
	}
	var found []resource
	for _, p := range paths {
		u, err := c.resolve(c.base, p)
		if err != nil {
			return nil, err
		}
		r, err := c.get(ctx, u)
		if isGone(err) {
			continue // somebody was faster
		}
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(objects, func(o object) bool { return o.isUnchanged(r.data) }) {
			return nil, changed(u)
		}
		found = append(found, r)
	}
	return found, nil
}

// paths are where an action's objects are, by its receipt. One of another
// connector, whose action was only copied here, says nothing about it: then
// they are looked for.
func (c *CalDAV) paths(ctx context.Context, receipt string, objects []object) ([]string, error) {
	if strings.HasPrefix(receipt, "/") {
		return strings.Fields(receipt), nil
	}
	var paths []string
	for _, o := range objects {
		p, err := c.anywhere(ctx, o)
		if err != nil {
			return nil, err
		}
		if p != "" {
			paths = append(paths, p)
		}
	}
	return paths, nil
}

func changed(u *url.URL) error {
	return &failure{err: hearken.Errorf(hearken.ActionCannotBeUndone, "%s was changed on the calendar server since, so it was left there.", path.Base(u.Path)).
		WithTry("delete it in your calendar if you no longer want it")}
}

// remove deletes what the server keeps, if it still is what was looked at.
func (c *CalDAV) remove(ctx context.Context, r resource) error {
	header := map[string]string{}
	if r.tag != "" {
		header["If-Match"] = r.tag
	}
	a, err := c.send(ctx, http.MethodDelete, r.url, header, "")
	if err != nil {
		return err
	}
	switch a.status {
	case http.StatusOK, http.StatusNoContent, http.StatusNotFound, http.StatusGone:
		return nil
	case http.StatusPreconditionFailed:
		return changed(r.url)
	}
	return refusal(a)
}
