package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

func (s *Store) Search(ctx context.Context, q hearken.Query) ([]hearken.Hit, error) {
	clauses, err := q.Clauses()
	if err != nil {
		return nil, err
	}
	hits, err := s.search(ctx, &q, clauses)
	return hits, store.Wrap(err, "search")
}

func (s *Store) search(ctx context.Context, q *hearken.Query, clauses []hearken.Clause) ([]hearken.Hit, error) {
	match, broad, err := s.matchQuery(ctx, clauses)
	if err != nil {
		return nil, err
	}
	if match == "" && len(broad) == 0 {
		return nil, nil
	}
	find, args, err := s.keysQuery(ctx, q, match)
	if err != nil || find == "" {
		return nil, err
	}
	if !q.Ranked {
		return s.readHits(ctx, find, args, broad, q.Count())
	}
	best, err := s.bestKeys(ctx, find, args, broad, clauses, q.Count())
	if err != nil {
		return nil, err
	}
	return s.readHits(ctx, `SELECT value AS key FROM json_each(?)`, []any{best}, nil, q.Count())
}

// keysQuery returns the query for the keys of all matches, newest first. Its
// limit, which means none, keeps their order when the query is part of another.
// The query is empty if nothing can match.
func (s *Store) keysQuery(ctx context.Context, q *hearken.Query, match string) (query string, args []any, err error) {
	from, to := int64(math.MinInt64), int64(math.MaxInt64)
	var where string
	if !q.Since.IsZero() {
		from = firstKey(q.Since)
		where += ` AND g.timestamp >= ?`
		args = append(args, ceilMicros(q.Since))
	}
	if !q.Until.IsZero() {
		to = firstKey(q.Until) + keysPerMilli
		where += ` AND g.timestamp < ?`
		args = append(args, ceilMicros(q.Until))
	}
	if q.Session != "" {
		var session int64
		var first, last sql.NullInt64
		err := s.reads.QueryRowContext(ctx, `SELECT key, first_key, last_key FROM session WHERE id = ?`, q.Session).
			Scan(&session, &first, &last)
		if errors.Is(err, sql.ErrNoRows) || err == nil && !first.Valid {
			return "", nil, nil
		}
		if err != nil {
			return "", nil, err
		}
		from, to = max(from, first.Int64), min(to, last.Int64)
		where += ` AND g.session = ?`
		args = append(args, session)
	}
	args = append([]any{from, to}, args...)
	if match == "" {
		return `SELECT g.key FROM segment g WHERE g.key >= ? AND g.key <= ?` + where + ` ORDER BY g.key DESC LIMIT -1`, args, nil
	}
	query = `SELECT spoken.rowid AS key FROM spoken `
	if where != "" {
		query += `CROSS JOIN segment g ON g.key = spoken.rowid `
	}
	query += `WHERE spoken MATCH ? AND spoken.rowid >= ? AND spoken.rowid <= ?` + where + ` ORDER BY spoken.rowid DESC LIMIT -1`
	return query, append([]any{match}, args...), nil
}

// bestKeys ranks the newest matches and returns the keys of the best as JSON.
// The ranking of FTS5 would read every match.
func (s *Store) bestKeys(ctx context.Context, find string, args []any, broad, clauses []hearken.Clause, limit int) (string, error) {
	var hits []hearken.Hit
	err := s.eachRow(ctx, `SELECT g.key, g.source, g.status, g.text FROM (`+find+`) AS f CROSS JOIN segment g ON g.key = f.key`, args,
		func(rows *sql.Rows) (bool, error) {
			var h hearken.Hit // only what ranking needs, with the key as its id
			g := &h.Segment
			if err := rows.Scan(&g.ID, &g.Origin, &g.Status, &g.Text); err != nil {
				return false, err
			}
			if containsBroad(g, broad) {
				hits = append(hits, h)
			}
			return len(hits) < hearken.SearchDepth, nil
		})
	if err != nil {
		return "", err
	}
	hearken.Rank(clauses, hits)
	keys := make([]int64, min(limit, len(hits)))
	for i := range keys {
		if keys[i], err = strconv.ParseInt(hits[i].Segment.ID, 10, 64); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(keys)
	return string(list), err
}

// readHits reads the entries whose keys find selects, in that order.
func (s *Store) readHits(ctx context.Context, find string, args []any, broad []hearken.Clause, limit int) ([]hearken.Hit, error) {
	var hits []hearken.Hit
	err := s.eachRow(ctx, `SELECT `+segmentColumns+`, s.id, s.title, s.started_at FROM (`+find+`) AS f
		CROSS JOIN segment g ON g.key = f.key CROSS JOIN session s ON s.key = g.session`, args,
		func(rows *sql.Rows) (bool, error) {
			var h hearken.Hit
			var timestamp, started int64
			err := rows.Scan(append(segmentFields(&h.Segment, &timestamp), &h.Session, &h.Title, &started)...)
			if err != nil {
				return false, err
			}
			if containsBroad(&h.Segment, broad) {
				h.Segment.Timestamp, h.StartedAt = fromMicros(timestamp), fromMicros(started)
				hits = append(hits, h)
			}
			return len(hits) < limit, nil
		})
	return hits, err
}

// containsBroad reports whether an entry contains the clauses that the index
// was not asked for.
func containsBroad(g *hearken.Segment, broad []hearken.Clause) bool {
	return len(broad) == 0 || g.Spoken() && hearken.ContainsAll(g.Text, broad)
}

// maxPrefixTerms is how many terms a prefix may match in the index. A clause
// with a broader prefix is looked for in the text of the entries instead: it
// occurs so often that the newest entries soon have enough of it.
const maxPrefixTerms = 1000

// matchNothing is a query that finds nothing; no term has this number.
const matchNothing = `"0"`

// matchQuery writes clauses as an FTS5 query, with the numbers of the terms in
// quotes. It returns the clauses that are too broad for that.
func (s *Store) matchQuery(ctx context.Context, clauses []hearken.Clause) (match string, broad []hearken.Clause, err error) {
	var all []string
	for _, c := range clauses {
		var ids []string
		last := len(c.Terms) - 1
		for i, term := range c.Terms {
			if i == last && c.Prefix {
				break
			}
			id, err := s.termNumber(ctx, term)
			if err != nil {
				return "", nil, err
			}
			ids = append(ids, id)
		}
		phrase := strings.Join(ids, " ")
		if !c.Prefix {
			all = append(all, `"`+phrase+`"`)
			continue
		}
		ends, err := s.prefixNumbers(ctx, c.Terms[last], maxPrefixTerms+1)
		switch {
		case err != nil:
			return "", nil, err
		case len(ends) > maxPrefixTerms:
			broad = append(broad, c)
			if phrase != "" {
				all = append(all, `"`+phrase+`"`)
			}
			continue
		case len(ends) == 0:
			return matchNothing, nil, nil
		}
		for i, end := range ends {
			ends[i] = `"` + strings.TrimSpace(phrase+" "+end) + `"`
		}
		all = append(all, `(`+strings.Join(ends, ` OR `)+`)`)
	}
	return strings.Join(all, ` AND `), broad, nil
}

// termNumber returns the number of a term, or 0 if no entry has it.
func (s *Store) termNumber(ctx context.Context, term string) (id string, err error) {
	id = "0"
	err = s.eachRow(ctx, `SELECT id FROM term WHERE term = ?`, []any{term}, func(rows *sql.Rows) (bool, error) {
		return false, rows.Scan(&id)
	})
	return id, err
}

// prefixNumbers returns the numbers of the terms that begin with prefix.
func (s *Store) prefixNumbers(ctx context.Context, prefix string, limit int) (ids []string, err error) {
	err = s.eachRow(ctx, `SELECT id FROM term WHERE term >= ? AND term < ? LIMIT ?`,
		[]any{prefix, prefix + "\U0010FFFF", limit}, func(rows *sql.Rows) (bool, error) {
			var id string
			err := rows.Scan(&id)
			ids = append(ids, id)
			return true, err
		})
	return ids, err
}
