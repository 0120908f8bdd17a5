package scribe

import (
	"context"
	"regexp"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/live"
)

// maxEntries bounds what one Cat holds in memory: several days of speech.
const maxEntries = 200_000

// Cat returns whole sessions, oldest first: those given by id, the captures in
// a period, the last few, or just the last one.
func (s *Scribe) Cat(ctx context.Context, req hearken.CatRequest) ([]hearken.ScribePage, error) {
	ids := req.Sessions
	if len(ids) == 0 {
		if req.Last == 0 && req.Since.IsZero() && req.Until.IsZero() {
			req.Last = 1
		}
		found, err := s.capturesBetween(ctx, req.Since, req.Until, req.Last)
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
	left := maxEntries
	for _, id := range ids {
		id, err := s.sessionID(ctx, id)
		if err != nil {
			return nil, err
		}
		page := hearken.ScribePage{Session: id}
		last, err := s.forEachBatch(ctx, id, v.interim(), func(entries []hearken.Segment) bool {
			before := len(page.Entries)
			page.Entries = v.appendMatching(page.Entries, entries, before+len(entries))
			left -= len(page.Entries) - before
			return left >= 0
		})
		if err != nil {
			return nil, err
		}
		if left < 0 {
			return nil, hearken.Errorf(hearken.Invalid, "These sessions hold more than %d entries.", maxEntries).
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

// capturesBetween finds the captures that started in a period, newest first.
func (s *Scribe) capturesBetween(ctx context.Context, since, until time.Time, last int) ([]hearken.Session, error) {
	if !since.IsZero() && !until.IsZero() && !since.Before(until) {
		return nil, hearken.Errorf(hearken.Invalid, "since must be before until.")
	}
	return s.captures(ctx, hearken.SessionFilter{Since: since, Until: until}, last)
}

// forEachBatch passes a session's confirmed entries to f in batches until f
// returns false. It returns the last page it read.
func (s *Scribe) forEachBatch(ctx context.Context, id string, interim bool, f func([]hearken.Segment) bool) (*live.Page, error) {
	req := live.ReadRequest{Session: id, Limit: batch, Interim: interim}
	for {
		page, err := s.cfg.Hub.Read(ctx, req)
		if err != nil {
			return nil, err
		}
		if !f(page.Segments) || !page.More {
			return page, nil
		}
		req.From = page.Next
	}
}

// Grep finds entries of captures with a regular expression, and the entries
// around them. With a limit, it searches the newest captures first; the result
// has the oldest session first.
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
	found, err := s.capturesBetween(ctx, req.Since, req.Until, 0)
	if err != nil {
		return nil, err
	}
	g := grep{expr: expr, view: view{filter: req.Filter}, before: req.Before, after: req.After, left: req.Limit}
	if g.left == 0 {
		g.left = maxEntries
	}
	var pages []hearken.ScribePage
	for _, info := range found {
		g.reset()
		last, err := s.forEachBatch(ctx, info.ID, false, g.scan)
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

// A grep collects matches while it passes through a session's entries.
type grep struct {
	expr          *regexp.Regexp
	view          view
	before, after int
	left          int // how many more matches are wanted

	out      []hearken.Segment
	behind   []hearken.Segment // the last entries before the next match
	trailing int               // how many entries still belong to the last match
}

func (g *grep) reset() { g.out, g.behind, g.trailing = nil, nil, 0 }

// scan examines the next entries and reports whether more are wanted.
func (g *grep) scan(entries []hearken.Segment) bool {
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
