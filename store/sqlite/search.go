package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
)

// Search implements [hearken.Store].
func (s *Store) Search(ctx context.Context, q hearken.Query) ([]hearken.Hit, error) {
	clauses, err := q.Clauses()
	if err != nil {
		return nil, err
	}
	find, args, err := s.find(ctx, &q, clauses)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	if find == "" {
		return nil, nil
	}
	if q.Ranked {
		if args, err = s.best(ctx, find, args, clauses, q.Count()); err != nil {
			return nil, fmt.Errorf("rank: %w", err)
		}
		find = `SELECT value AS key FROM json_each(?)`
	} else {
		args = append(args, q.Count())
	}
	// The list of keys is ordered; the join must keep it so.
	hits, err := s.hits(ctx, `SELECT `+segmentColumns+`, s.id, s.title, s.started_at
		FROM (`+find+`) AS f CROSS JOIN segment g ON g.key = f.key CROSS JOIN session s ON s.key = g.session`, args)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return hits, nil
}

// find is the query for the keys of all that match, newest first, up to a
// limit that is its last argument. It is empty where nothing can match.
func (s *Store) find(ctx context.Context, q *hearken.Query, clauses []hearken.Clause) (query string, args []any, err error) {
	from, to := int64(math.MinInt64), int64(math.MaxInt64)
	var where string
	if !q.Since.IsZero() {
		from = firstKey(q.Since)
		where += ` AND g.timestamp >= ?`
		args = append(args, ceil(q.Since))
	}
	if !q.Until.IsZero() {
		to = firstKey(q.Until) + keysPerMilli
		where += ` AND g.timestamp < ?`
		args = append(args, ceil(q.Until))
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
	query = `SELECT spoken.rowid AS key FROM spoken `
	if where != "" {
		query += `CROSS JOIN segment g ON g.key = spoken.rowid `
	}
	query += `WHERE spoken MATCH ? AND spoken.rowid >= ? AND spoken.rowid <= ?` + where +
		` ORDER BY spoken.rowid DESC LIMIT ?`
	return query, append([]any{match(clauses), from, to}, args...), nil
}

// match writes clauses in the words of FTS5, all as quoted strings, so that
// nothing in them is syntax.
func match(clauses []hearken.Clause) string {
	var b strings.Builder
	for i, c := range clauses {
		if i > 0 {
			b.WriteString(" AND ")
		}
		b.WriteString(`"` + strings.ReplaceAll(strings.Join(c.Terms, " "), `"`, `""`) + `"`)
		if c.Prefix {
			b.WriteString(" *")
		}
	}
	return b.String()
}

// best ranks the newest matches and returns the keys of the best, as JSON.
// FTS5 has a ranking of its own, but it visits every match to weigh it.
func (s *Store) best(ctx context.Context, find string, args []any, clauses []hearken.Clause, limit int) ([]any, error) {
	stmt, err := s.read(ctx, `SELECT g.key, g.text FROM (`+find+`) AS f CROSS JOIN segment g ON g.key = f.key`)
	if err != nil {
		return nil, err
	}
	rows, err := stmt.QueryContext(ctx, append(args, hearken.SearchDepth)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var hits []hearken.Hit
	for rows.Next() {
		var h hearken.Hit // only what ranking needs, under the key's name
		if err := rows.Scan(&h.Segment.ID, &h.Segment.Text); err != nil {
			return nil, err
		}
		hits = append(hits, h)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	hearken.Rank(clauses, hits)
	keys := make([]int64, min(limit, len(hits)))
	for i := range keys {
		if keys[i], err = strconv.ParseInt(hits[i].Segment.ID, 10, 64); err != nil {
			return nil, err
		}
	}
	list, err := json.Marshal(keys)
	return []any{string(list)}, err
}

func (s *Store) hits(ctx context.Context, query string, args []any) ([]hearken.Hit, error) {
	stmt, err := s.read(ctx, query)
	if err != nil {
		return nil, err
	}
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var hits []hearken.Hit
	for rows.Next() {
		var h hearken.Hit
		var timestamp, started int64
		if err := rows.Scan(append(segmentFields(&h.Segment, &timestamp), &h.Session, &h.Title, &started)...); err != nil {
			return nil, err
		}
		h.Segment.Timestamp, h.StartedAt = time.UnixMicro(timestamp).UTC(), time.UnixMicro(started).UTC()
		hits = append(hits, h)
	}
	return hits, rows.Err()
}
