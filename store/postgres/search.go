package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

// Search implements [hearken.Store]. The index finds entries that contain all
// terms. Whether those of a phrase follow each other, only their text shows.
func (s *Store) Search(ctx context.Context, q hearken.Query) ([]hearken.Hit, error) {
	clauses, err := q.Clauses()
	if err != nil {
		return nil, err
	}
	if q.Session != "" && !hearken.ValidID(q.Session) {
		return nil, nil
	}
	limit := q.Count()
	if q.Ranked {
		limit = hearken.SearchDepth
	}
	hits, err := s.newestHits(ctx, &q, clauses, limit)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	if q.Ranked {
		hearken.Rank(clauses, hits)
	}
	return hits[:min(len(hits), q.Count())], nil
}

// newestHits finds up to limit entries, newest first, page by page.
func (s *Store) newestHits(ctx context.Context, q *hearken.Query, clauses []hearken.Clause, limit int) ([]hearken.Hit, error) {
	phrases := slices.DeleteFunc(slices.Clone(clauses), func(c hearken.Clause) bool { return len(c.Terms) == 1 })
	size := limit
	if len(phrases) > 0 {
		size = max(2*limit, 200)
	}
	var hits []hearken.Hit
	for after := (position{}); ; {
		page, last, err := s.searchPage(ctx, q, clauses, after, size)
		if err != nil {
			return nil, err
		}
		for _, h := range page {
			if len(hits) < limit && hearken.ContainsAll(h.Segment.Text, phrases) {
				hits = append(hits, h)
			}
		}
		if len(page) < size || len(hits) == limit {
			return hits, nil
		}
		after, size = last, min(2*size, 10_000)
	}
}

// A position is that of an entry in the order by time.
type position struct {
	at  time.Time
	key int64
}

// searchPage reads the entries after a position that contain all terms.
func (s *Store) searchPage(ctx context.Context, q *hearken.Query, clauses []hearken.Clause, after position, size int) (hits []hearken.Hit, last position, err error) {
	w := store.Where{}
	w.And(`g.terms @@ ?::text::tsquery`, tsQuery(clauses))
	if q.Session != "" {
		w.And(`s.id = ?`, q.Session)
	}
	if !q.Since.IsZero() {
		w.And(`g.timestamp >= ?`, store.CeilTime(q.Since))
	}
	if !q.Until.IsZero() {
		w.And(`g.timestamp < ?`, store.CeilTime(q.Until))
	}
	if after.key != 0 {
		w.And(`g.timestamp <= ? AND (g.timestamp, g.key) < (?, ?)`, after.at, after.at, after.key)
	}
	rows, err := s.pool.Query(ctx, `SELECT `+segmentColumns+`, g.key, s.id, s.title, s.started_at
		FROM hearken_segment g JOIN hearken_session s ON s.key = g.session`+numbered(w)+
		fmt.Sprintf(` ORDER BY g.timestamp DESC, g.key DESC LIMIT %d`, size), w.Args...)
	if err != nil {
		return nil, last, err
	}
	defer rows.Close()
	for rows.Next() {
		var h hearken.Hit
		err := rows.Scan(append(segmentFields(&h.Segment), &last.key, &h.Session, &h.Title, &h.StartedAt)...)
		if err != nil {
			return nil, last, err
		}
		h.Segment.Timestamp, h.StartedAt = h.Segment.Timestamp.UTC(), h.StartedAt.UTC()
		last.at = h.Segment.Timestamp
		hits = append(hits, h)
	}
	return hits, last, rows.Err()
}

// tsQuery writes the terms of all clauses as a tsquery. Each is in quotes, so
// that nothing in it is syntax.
func tsQuery(clauses []hearken.Clause) string {
	var all []string
	for _, c := range clauses {
		for i, term := range c.Terms {
			quoted := `'` + strings.NewReplacer(`'`, `''`, `\`, `\\`).Replace(term) + `'`
			if c.Prefix && i == len(c.Terms)-1 {
				quoted += `:*`
			}
			all = append(all, quoted)
		}
	}
	return strings.Join(all, ` & `)
}
