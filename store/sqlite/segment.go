package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

// saveSegments adds the segments that are not stored yet.
func saveSegments(ctx context.Context, tx *sql.Tx, session int64, segments []hearken.Segment) error {
	if len(segments) == 0 {
		return nil
	}
	insert, err := tx.PrepareContext(ctx, `
		INSERT INTO segment (key, session, line, id, source, status, text, start_time, end_time,
			confidence, speaker, language, is_final, timestamp, echo, durable, original, estimated, words, event)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (session, line) DO NOTHING`)
	if err != nil {
		return err
	}
	index, err := newTextIndex(ctx, tx)
	if err != nil {
		return err
	}
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for i := range segments {
		g := &segments[i]
		key, err := nextKey(ctx, tx, g.Timestamp)
		if err != nil {
			return err
		}
		var words sql.NullString
		if len(g.Words) > 0 {
			list, err := json.Marshal(g.Words)
			if err != nil {
				return err
			}
			words = sql.NullString{String: string(list), Valid: true}
		}
		n, err := affected(insert.ExecContext(ctx, key, session, g.Line, g.ID, g.Origin, g.Status, g.Text,
			g.StartTime, g.EndTime, g.Confidence, g.Speaker, g.Language, g.IsFinal,
			g.Timestamp.UnixMicro(), g.Echo, g.Durable, g.Original, g.Estimated, words, g.Event))
		if err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		first, last = min(first, key), max(last, key)
		if err := index.update(ctx, index.insert, key, g); err != nil {
			return fmt.Errorf("index: %w", err)
		}
	}
	if first > last {
		return nil
	}
	_, err = tx.ExecContext(ctx, `UPDATE session SET first_key = min(ifnull(first_key, ?1), ?1),
		last_key = max(ifnull(last_key, ?2), ?2) WHERE key = ?3`, first, last, session)
	return err
}

// keysPerMilli is how many segments of one millisecond get keys in order.
const keysPerMilli = 1 << 16

// firstKey is the lowest key of a segment that was said at t.
func firstKey(t time.Time) int64 {
	const limit = math.MaxInt64/keysPerMilli - 1
	return min(max(t.UnixMilli(), -limit), limit) * keysPerMilli
}

// nextKey is the first free key for a segment that was said at t.
func nextKey(ctx context.Context, tx *sql.Tx, t time.Time) (int64, error) {
	for key := firstKey(t); ; key += keysPerMilli {
		var last sql.NullInt64
		err := tx.QueryRowContext(ctx, `SELECT max(key) FROM segment WHERE key >= ? AND key < ?`,
			key, key+keysPerMilli).Scan(&last)
		switch {
		case err != nil:
			return 0, err
		case !last.Valid:
			return key, nil
		case last.Int64 < key+keysPerMilli-1:
			return last.Int64 + 1, nil
		}
	}
}

const segmentColumns = `g.line, g.id, g.source, g.status, g.text, g.start_time, g.end_time,
	g.confidence, g.speaker, g.language, g.is_final, g.timestamp, g.echo, g.durable, g.original, g.estimated, g.event`

// segmentFields are the destinations of segmentColumns. The caller converts the
// timestamp.
func segmentFields(g *hearken.Segment, timestamp *int64) []any {
	return []any{&g.Line, &g.ID, &g.Origin, &g.Status, &g.Text, &g.StartTime, &g.EndTime,
		&g.Confidence, &g.Speaker, &g.Language, &g.IsFinal, timestamp, &g.Echo, &g.Durable, &g.Original, &g.Estimated, &g.Event}
}

func (s *Store) Segments(ctx context.Context, id string, line, limit int, words bool) ([]hearken.Segment, error) {
	session, err := sessionKey(ctx, s.reads, id)
	if err != nil {
		return nil, fmt.Errorf("read segments: %w", err)
	}
	column := `NULL`
	if words {
		column = `g.words`
	}
	var found []hearken.Segment
	err = s.eachRow(ctx, `SELECT `+segmentColumns+`, `+column+` FROM segment g
		WHERE g.session = ? AND g.line >= ? ORDER BY g.line LIMIT ?`, []any{session, line, max(limit, 0)},
		func(rows *sql.Rows) (bool, error) {
			var g hearken.Segment
			var timestamp int64
			var words sql.RawBytes
			if err := rows.Scan(append(segmentFields(&g, &timestamp), &words)...); err != nil {
				return false, err
			}
			g.Timestamp = fromMicros(timestamp)
			if words != nil {
				if err := json.Unmarshal(words, &g.Words); err != nil {
					return false, err
				}
			}
			found = append(found, g)
			return true, nil
		})
	return found, store.Wrap(err, "read segments")
}
