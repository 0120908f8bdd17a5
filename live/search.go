package live

import (
	"cmp"
	"context"
	"slices"

	"github.com/hearken-dev/hearken"
)

// Search finds entries in stored and active sessions.
func (h *Hub) Search(ctx context.Context, q hearken.Query) ([]hearken.Hit, error) {
	clauses, err := q.Clauses()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	hits, err := h.cfg.Store.Search(ctx, q)
	if err != nil {
		return nil, storeFailed(err)
	}
	found := len(hits)
	for _, s := range h.list() {
		hits = append(hits, s.search(q, clauses)...)
	}
	if len(hits) == found {
		return hits, nil
	}
	slices.SortStableFunc(hits, func(a, b hearken.Hit) int {
		return cmp.Or(b.Segment.Timestamp.Compare(a.Segment.Timestamp), cmp.Compare(b.Segment.Line, a.Segment.Line))
	})
	if q.Ranked {
		hearken.Rank(clauses, hits)
	}
	return hits[:min(len(hits), q.Count())], nil
}

// search searches what the store does not have yet.
func (s *session) search(q hearken.Query, clauses []hearken.Clause) []hearken.Hit {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase == gone || q.Session != "" && q.Session != s.id {
		return nil
	}
	var hits []hearken.Hit
	from, _ := findLine(s.segments, s.saved+1)
	for _, seg := range s.segments[from:] {
		if !seg.Spoken() || !q.Since.IsZero() && seg.Timestamp.Before(q.Since) || !q.Until.IsZero() && !seg.Timestamp.Before(q.Until) {
			continue
		}
		terms := hearken.Terms(seg.Text)
		if !slices.ContainsFunc(clauses, func(c hearken.Clause) bool { return !c.Matches(terms) }) {
			seg.Words = []hearken.Word{}
			hits = append(hits, hearken.Hit{Session: s.id, Title: s.info.Title, StartedAt: s.info.StartedAt, Segment: seg})
		}
	}
	return hits
}
