package scribe

import (
	"context"
	"regexp"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/live"
)

// mostEntries bounds what one Cat holds in memory: days of talk.
const mostEntries = 200_000

// Cat returns whole sessions, the oldest first: those that are named, or else
// the captures of a time, the last so many, or the last one.
func (s *Scribe) Cat(ctx context.Context, req hearken.CatRequest) ([]hearken.ScribePage, error) {
	ids := req.Sessions
	if len(ids) == 0 {
		if req.Last == 0 && req.Since.IsZero() && req.Until.IsZero() {
			req.Last = 1
		}
		found, err := s.between(ctx, req.Since, req.Until, req.Last)
		if err != nil {
			return nil, err
		}
		for _, info := range slices.Backward(found) {
			ids = append(ids, info.ID)
		}
	}
	v := view{filter: req.Filter, echo: req.Echo}
	pages := make([]hearken.ScribePage, 0, len(ids))
	began := make(map[string]time.Time, len(ids))
	room := mostEntries
	for _, id := range ids {
		id, err := s.which(ctx, id)
		if err != nil {
			return nil, err
		}
		page := hearken.ScribePage{Session: id}
		last, err := s.each(ctx, id, v.interim(), func(entries []hearken.Segment) bool {
			before := len(page.Entries)
			page.Entries = v.add(page.Entries, entries, before+len(entries))
			room -= len(page.Entries) - before
			return room >= 0
		})
		if err != nil {
			return nil, err
		}
		if room < 0 {
			return nil, hearken.Errorf(hearken.Invalid, "These sessions hold more than %d entries.", mostEntries).
				WithTry("fewer at a time: session ids, last, or since and until")
		}
		page.Entries = append(page.Entries, v.unconfirmed(last)...)
		page.Next = last.Total + 1
		began[id] = last.Session.StartedAt
		pages = append(pages, page)
	}
	slices.SortStableFunc(pages, func(a, b hearken.ScribePage) int { return began[a.Session].Compare(began[b.Session]) })
	return pages, nil
}

// between finds the captures that started in a time, the newest first.
func (s *Scribe) between(ctx context.Context, since, until time.Time, last int) ([]hearken.Session, error) {
	if !since.IsZero() && !until.IsZero() && !since.Before(until) {
		return nil, hearken.Errorf(hearken.Invalid, "since must be before until.")
	}
	return s.captures(ctx, hearken.SessionFilter{Since: since, Until: until}, last)
}

// each goes through a session's confirmed entries in batches until one is not
// taken, and returns the last page that it read.
func (s *Scribe) each(ctx context.Context, id string, interim bool, take func([]hearken.Segment) bool) (*live.Page, error) {
	req := live.ReadRequest{Session: id, Limit: batch, Interim: interim}
	for {
		page, err := s.cfg.Hub.Read(ctx, req)
		if err != nil {
			return nil, err
		}
		if !take(page.Segments) || !page.More {
			return page, nil
		}
		req.From = page.Next
	}
}

// Grep finds entries of captures by a regular expression, with those around
// them. With a limit the newest captures are looked through first; what was
// found comes with the oldest session first.
func (s *Scribe) Grep(ctx context.Context, req hearken.GrepRequest) ([]hearken.ScribePage, error) {
	pattern := req.Pattern
	if pattern == "" {
		return nil, hearken.Errorf(hearken.Invalid, "pattern is required.")
	}
	if req.IgnoreCase {
		pattern = "(?i)" + pattern
	}
	expr, err := regexp.Compile(pattern)
	if err != nil {
		return nil, hearken.Errorf(hearken.Invalid, "%.60q is not a regular expression: %w.", req.Pattern, err).
			WithTry(`a word, or a backslash before each of \.+*?()|[]{}^$`)
	}
	found, err := s.between(ctx, req.Since, req.Until, 0)
	if err != nil {
		return nil, err
	}
	g := grep{expr: expr, view: view{filter: req.Filter}, before: req.Before, after: req.After, left: req.Limit}
	if g.left == 0 {
		g.left = mostEntries
	}
	var pages []hearken.ScribePage
	for _, info := range found {
		g.begin()
		last, err := s.each(ctx, info.ID, false, g.take)
		if err != nil {
			return nil, err
		}
		if len(g.out) > 0 {
			pages = append(pages, hearken.ScribePage{Session: info.ID, Entries: g.out, Next: last.Total + 1})
		}
		if g.left == 0 {
			break
		}
	}
	slices.Reverse(pages)
	return pages, nil
}

// A grep goes through a session's entries once.
type grep struct {
	expr          *regexp.Regexp
	view          view
	before, after int
	left          int // matches that are still wanted

	out      []hearken.Segment
	behind   []hearken.Segment // the last entries that were not taken
	trailing int               // entries that still belong to the last match
}

func (g *grep) begin() { g.out, g.behind, g.trailing = nil, nil, 0 }

// take looks at the next entries and tells whether more are wanted.
func (g *grep) take(entries []hearken.Segment) bool {
	for i := range entries {
		seg := &entries[i]
		switch {
		case !g.view.shows(seg):
		case g.left > 0 && seg.Spoken() && g.expr.MatchString(seg.Text):
			g.out = append(append(g.out, g.behind...), *seg)
			g.behind, g.trailing = nil, g.after
			g.left--
		case g.trailing > 0:
			g.out = append(g.out, *seg)
			g.trailing--
		case g.before > 0:
			if len(g.behind) == g.before {
				g.behind = g.behind[1:]
			}
			g.behind = append(g.behind, *seg)
		}
	}
	return g.left > 0 || g.trailing > 0
}
