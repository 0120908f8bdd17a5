package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

// saveSegments adds the segments that are not stored yet.
func saveSegments(ctx context.Context, tx pgx.Tx, session int64, segments []hearken.Segment) error {
	var batch pgx.Batch
	for i := range segments {
		g := &segments[i]
		var words *string
		if len(g.Words) > 0 {
			list, err := json.Marshal(g.Words)
			if err != nil {
				return err
			}
			text := string(list)
			words = &text
		}
		batch.Queue(`
			INSERT INTO hearken_segment (session, line, id, source, status, text, start_time, end_time,
				confidence, speaker, language, is_final, timestamp, echo, durable, original, estimated, event, words, terms)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, array_to_tsvector($20::text[]))
			ON CONFLICT (session, line) DO NOTHING`,
			session, g.Line, validText(g.ID), validText(g.Origin), validText(g.Status), validText(g.Text), g.StartTime, g.EndTime,
			g.Confidence, g.Speaker, validText(g.Language), g.IsFinal, store.RoundTime(g.Timestamp), g.Echo, g.Durable,
			validText(g.Original), g.Estimated, validText(g.Event), words, indexTerms(g))
	}
	if batch.Len() == 0 {
		return nil
	}
	return tx.SendBatch(ctx, &batch).Close()
}

// maxTermBytes is somewhat less than the bytes of terms that a tsvector can hold.
// Different words of a single entry beyond that are not found.
const maxTermBytes = 1_000_000

// indexTerms is the set of terms by which an entry is found; nil for none.
func indexTerms(g *hearken.Segment) []string {
	if !g.Spoken() {
		return nil
	}
	terms := hearken.Terms(g.Text)
	slices.Sort(terms)
	terms = slices.Compact(terms)
	size := 0
	for i, term := range terms {
		if size += len(term); size > maxTermBytes {
			return terms[:i]
		}
	}
	return terms
}

const segmentColumns = `g.line, g.id, g.source, g.status, g.text, g.start_time, g.end_time,
	g.confidence, g.speaker, g.language, g.is_final, g.timestamp, g.echo, g.durable, g.original, g.estimated, g.event`

// segmentFields are the destinations of segmentColumns.
func segmentFields(g *hearken.Segment) []any {
	return []any{&g.Line, &g.ID, &g.Origin, &g.Status, &g.Text, &g.StartTime, &g.EndTime,
		&g.Confidence, &g.Speaker, &g.Language, &g.IsFinal, &g.Timestamp, &g.Echo, &g.Durable, &g.Original, &g.Estimated, &g.Event}
}

// Segments implements [hearken.Store].
func (s *Store) Segments(ctx context.Context, id string, line, limit int, words bool) ([]hearken.Segment, error) {
	session, err := sessionKey(ctx, s.pool, id)
	if err != nil {
		return nil, err
	}
	column := `NULL`
	if words {
		column = `g.words::text`
	}
	rows, err := s.pool.Query(ctx, `SELECT `+segmentColumns+`, `+column+` FROM hearken_segment g
		WHERE g.session = $1 AND g.line >= $2 ORDER BY g.line LIMIT $3`, session, line, max(limit, 0))
	if err != nil {
		return nil, fmt.Errorf("read segments: %w", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (g hearken.Segment, err error) {
		var words *string
		if err := row.Scan(append(segmentFields(&g), &words)...); err != nil {
			return g, err
		}
		g.Timestamp = g.Timestamp.UTC()
		if words != nil {
			err = json.Unmarshal([]byte(*words), &g.Words)
		}
		return g, err
	})
	if err != nil {
		return nil, fmt.Errorf("read segments: %w", err)
	}
	return found, nil
}

// Forget implements [hearken.Store].
func (s *Store) Forget(ctx context.Context, id string, line int) error {
	return s.write(ctx, func(tx pgx.Tx) error {
		session, err := sessionKey(ctx, tx, id)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM hearken_segment WHERE session = $1 AND line >= $2`, session, line); err != nil {
			return fmt.Errorf("forget: %w", err)
		}
		return nil
	})
}
