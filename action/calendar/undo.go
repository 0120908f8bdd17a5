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

// Undo removes what an action created on the server. If a person has changed
// any of it since, Undo removes nothing, and the outcome says so.
func (c *CalDAV) Undo(ctx context.Context, a *hearken.Action) hearken.Outcome {
	found, err := c.unchanged(ctx, a)
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

// unchanged finds what is left of an action on the server. It fails if any of
// it was changed.
func (c *CalDAV) unchanged(ctx context.Context, a *hearken.Action) ([]resource, error) {
	objects, err := possibleObjects(a)
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

// paths are where an action's objects are, by its receipt. The receipt of
// another connector, whose action was only copied here, does not say that; then
// the objects are searched.
func (c *CalDAV) paths(ctx context.Context, receipt string, objects []object) ([]string, error) {
	if strings.HasPrefix(receipt, "/") {
		return strings.Fields(receipt), nil
	}
	var paths []string
	for _, o := range objects {
		p, err := c.find(ctx, o)
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

// remove deletes a resource if it is still what get read.
func (c *CalDAV) remove(ctx context.Context, res resource) error {
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
