package postgres

import (
	"context"
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
		var words any
		if len(g.Words) > 0 {
			words = jsonValue{g.Words}
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

// maxTermBytes is somewhat less than the bytes of terms that a tsvector can
// hold. Different words of a single entry beyond that are not found.
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

func (s *Store) Segments(ctx context.Context, id string, line, limit int, words bool) ([]hearken.Segment, error) {
	session, err := sessionKey(ctx, s.pool, id)
	if err != nil {
		return nil, err
	}
	column := `NULL::json`
	if words {
		column = `g.words`
	}
	found, err := collect(ctx, s, func(row pgx.CollectableRow) (g hearken.Segment, err error) {
		err = row.Scan(append(segmentFields(&g), &g.Words)...)
		g.Timestamp = g.Timestamp.UTC()
		return g, err
	}, `SELECT `+segmentColumns+`, `+column+` FROM hearken_segment g
		WHERE g.session = $1 AND g.line >= $2 ORDER BY g.line LIMIT $3`, session, line, max(limit, 0))
	return found, store.Wrap(err, "read segments")
}

func (s *Store) Forget(ctx context.Context, id string, from, to float64) error {
	return s.write(ctx, func(tx pgx.Tx) error {
		session, err := sessionKey(ctx, tx, id)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `DELETE FROM hearken_segment WHERE session = $1 AND source <> $2 AND end_time > $3 AND start_time < $4`,
			session, validText(hearken.EventOrigin), from, to)
		return store.Wrap(err, "forget")
	})
}
