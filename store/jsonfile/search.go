package jsonfile

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

// Search implements [hearken.Store] by reading every transcript. It skips and
// logs those that are damaged.
func (s *Store) Search(ctx context.Context, q hearken.Query) ([]hearken.Hit, error) {
	clauses, err := q.Clauses()
	if err != nil {
		return nil, err
	}
	s.warned.Do(func() {
		s.Log.Info("a search reads every transcript, because JSON files have no index; sqlite and postgres have one")
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
		found, err := s.searchSession(session, &q, clauses)
		if err != nil {
			s.Log.Warn("damaged transcript skipped", "session_id", session.ID, "error", err)
			continue
		}
		if hits = append(hits, found...); len(hits) > 2*hearken.SearchDepth {
			hits = newestHits(hits)
		}
	}
	hits = newestHits(hits)
	if q.Ranked {
		hearken.Rank(clauses, hits)
	}
	return hits[:min(len(hits), q.Count())], nil
}

// searchSession finds the entries of one session, each line once.
func (s *Store) searchSession(session *hearken.Session, q *hearken.Query, clauses []hearken.Clause) ([]hearken.Hit, error) {
	var hits []hearken.Hit
	seen := map[int]bool{}
	err := s.eachLine(session.ID, func(_ int64, text []byte) error {
		var g hearken.Segment
		if err := json.Unmarshal(text, &g); err != nil {
			return err
		}
		if seen[g.Line] {
			return nil
		}
		seen[g.Line] = true
		if !q.Matches(clauses, &g) {
			return nil
		}
		g.Words = nil
		hits = append(hits, hearken.Hit{Session: session.ID, Title: session.Title, StartedAt: session.StartedAt, Segment: g})
		return nil
	})
	return hits, err
}

// newestHits sorts hits and drops those beyond what a search returns.
func newestHits(hits []hearken.Hit) []hearken.Hit {
	store.SortHits(hits)
	return hits[:min(len(hits), hearken.SearchDepth)]
}
