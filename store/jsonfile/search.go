package jsonfile

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hearken-dev/hearken"
)

// Search implements [hearken.Store] by reading every transcript. Those that
// are damaged are passed over and logged.
func (s *Store) Search(ctx context.Context, q hearken.Query) ([]hearken.Hit, error) {
	clauses, err := q.Clauses()
	if err != nil {
		return nil, err
	}
	s.warned.Do(func() {
		s.Log.Info("searching without an index reads every transcript; sqlite and postgres have one")
	})
	s.mu.RLock()
	defer s.mu.RUnlock()
	sessions, err := s.sessions(ctx)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	var hits []hearken.Hit
	for i := range sessions {
		session := &sessions[i]
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if q.Session != "" && q.Session != session.ID {
			continue
		}
		found, err := s.scan(session, &q, clauses)
		if err != nil {
			s.Log.Warn("transcript passed over", "session_id", session.ID, "error", err)
			continue
		}
		if hits = append(hits, found...); len(hits) > 2*hearken.SearchDepth {
			hits = newest(hits)
		}
	}
	hits = newest(hits)
	if q.Ranked {
		hearken.Rank(clauses, hits)
	}
	return hits[:min(len(hits), q.Count())], nil
}

// scan finds the entries of one session, each line once.
func (s *Store) scan(session *hearken.Session, q *hearken.Query, clauses []hearken.Clause) ([]hearken.Hit, error) {
	var hits []hearken.Hit
	seen := map[int]bool{}
	err := s.lines(session.ID, func(_ int64, text []byte) error {
		var g hearken.Segment
		if err := json.Unmarshal(text, &g); err != nil {
			return err
		}
		if seen[g.Line] || !g.Spoken() ||
			!q.Since.IsZero() && g.Timestamp.Before(q.Since) || !q.Until.IsZero() && !g.Timestamp.Before(q.Until) {
			return nil
		}
		seen[g.Line] = true
		terms := hearken.Terms(g.Text)
		if slices.ContainsFunc(clauses, func(c hearken.Clause) bool { return !c.Matches(terms) }) {
			return nil
		}
		g.Words = nil
		hits = append(hits, hearken.Hit{Session: session.ID, Title: session.Title, StartedAt: session.StartedAt, Segment: g})
		return nil
	})
	return hits, err
}

// newest sorts hits and keeps as many as anybody may ask for.
func newest(hits []hearken.Hit) []hearken.Hit {
	slices.SortFunc(hits, func(a, b hearken.Hit) int {
		return cmp.Or(b.Segment.Timestamp.Compare(a.Segment.Timestamp),
			cmp.Compare(b.Session, a.Session), cmp.Compare(b.Segment.Line, a.Segment.Line))
	})
	return hits[:min(len(hits), hearken.SearchDepth)]
}
