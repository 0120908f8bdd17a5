package scribe

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/live"
)

// batch is how many entries one read returns.
const batch = 500

// Tail returns the newest entries of a session, or those from a given line.
//
// Unconfirmed entries come last and carry the line of the last confirmed one.
// So a caller that continues from the last line it saw plus one gets each
// confirmed entry exactly once, with or without unconfirmed ones. A line beyond
// the end, as after a new session began, starts again at the first entry.
func (s *Scribe) Tail(ctx context.Context, req hearken.TailRequest) (*hearken.ScribePage, error) {
	defer s.markAsked()
	id, err := s.sessionID(ctx, req.Session)
	if err != nil {
		return nil, err
	}
	if req.N <= 0 {
		req.N = 10
	}
	v := view{filter: req.Filter, echo: req.Echo}
	if req.SinceLine > 0 {
		return s.follow(ctx, id, v, req)
	}
	page, err := s.readNewest(ctx, id, v, req.N)
	if err != nil || len(page.Entries) > 0 || req.Wait <= 0 {
		return page, err
	}
	req.SinceLine = page.Next
	return s.follow(ctx, id, v, req)
}

// sessionID returns the id of the requested session: the given one, the current
// one or the last one.
func (s *Scribe) sessionID(ctx context.Context, id string) (string, error) {
	if id != "" {
		lower := strings.ToLower(id)
		if !hearken.ValidID(lower) {
			return "", hearken.Errorf(hearken.SessionNotFound, "%.60q is not the id of a session.", id).WithTry("pscribe_sessions")
		}
		return lower, nil
	}
	s.mu.Lock()
	id = s.last
	s.mu.Unlock()
	if id != "" {
		return id, nil
	}
	found, err := s.captures(ctx, hearken.SessionFilter{}, 1)
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", hearken.Errorf(hearken.SessionNotFound, "No active transcript: nothing was captured on this computer yet.").WithTry("pscribe_start")
	}
	return found[0].ID, nil
}

// A view selects the entries that a reader wants.
type view struct {
	filter hearken.StatusFilter
	echo   bool
}

func (v view) shows(seg *hearken.Segment) bool {
	return v.filter.Matches(seg.Status) && (v.echo || !seg.Echo)
}

// interim reports whether unconfirmed entries are wanted.
func (v view) interim() bool { return v.filter.Matches(hearken.Unconfirmed) }

// appendMatching appends matching entries until there are n.
func (v view) appendMatching(to, entries []hearken.Segment, n int) []hearken.Segment {
	for i := range entries {
		if len(to) < n && v.shows(&entries[i]) {
			to = append(to, entries[i])
		}
	}
	return to
}

// unconfirmed returns the matching unconfirmed entries of a page.
func (v view) unconfirmed(page *live.Page) []hearken.Segment {
	var out []hearken.Segment
	for _, seg := range page.Interim {
		if seg.Line = page.Total; v.shows(&seg) {
			out = append(out, seg)
		}
	}
	return out
}

// follow reads from a line, oldest first, and waits for new entries if there
// are none.
func (s *Scribe) follow(ctx context.Context, id string, v view, req hearken.TailRequest) (*hearken.ScribePage, error) {
	out := &hearken.ScribePage{Session: id}
	read := live.ReadRequest{Session: id, From: req.SinceLine - 1, Limit: batch, Interim: v.interim(), Wait: req.Wait}
	deadline := time.Now().Add(req.Wait)
	at, err := s.cfg.Hub.Read(ctx, live.ReadRequest{Session: id, From: read.From, Limit: 1})
	if err != nil {
		return nil, err
	}
	if read.From > at.Total { // another session began
		read.From, read.Wait, deadline = 0, 0, time.Time{}
	}
	for {
		asked := time.Now()
		page, err := s.cfg.Hub.Read(ctx, read)
		if err != nil {
			return nil, err
		}
		early := len(page.Segments) == 0 && time.Since(asked) < read.Wait
		out.Entries = v.appendMatching(out.Entries, page.Segments, req.N)
		if len(out.Entries) == req.N {
			out.Next = out.Entries[req.N-1].Line + 1
			return out, nil
		}
		read.From, read.Wait = page.Next, 0
		if page.More {
			continue
		}
		out.Next = page.Next + 1
		shown := v.unconfirmed(page)
		out.Entries = append(out.Entries, shown[:min(len(shown), req.N-len(out.Entries))]...)
		// A hub that is shutting down ends the wait early.
		left := time.Until(deadline)
		if len(out.Entries) > 0 || left <= 0 || early || page.Session.Status == hearken.Stopped {
			return out, nil
		}
		read.Wait = left
	}
}

// readNewest reads the last n matching entries.
func (s *Scribe) readNewest(ctx context.Context, id string, v view, n int) (*hearken.ScribePage, error) {
	window := min(max(n, 64), batch)
	page, err := s.cfg.Hub.Read(ctx, live.ReadRequest{Session: id, From: -window, Limit: window, Interim: v.interim()})
	if err != nil {
		return nil, err
	}
	out := &hearken.ScribePage{Session: id, Next: page.Total + 1}
	found := v.unconfirmed(page)
	slices.Reverse(found)
	for before := page.Total + 1; ; {
		for _, seg := range slices.Backward(page.Segments) {
			if len(found) < n && seg.Line < before && v.shows(&seg) {
				found = append(found, seg)
			}
		}
		before -= window // some of these lines may have been deleted
		if len(found) >= n || before <= 1 {
			break
		}
		page, err = s.cfg.Hub.Read(ctx, live.ReadRequest{Session: id, From: max(0, before-1-window), Limit: window})
		if err != nil {
			return nil, err
		}
	}
	found = found[:min(len(found), n)]
	slices.Reverse(found)
	out.Entries = found
	return out, nil
}
