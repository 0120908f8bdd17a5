package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

// SaveAlarm implements [hearken.ActionStore].
func (s *Store) SaveAlarm(ctx context.Context, a *hearken.Alarm) (bool, error) {
	if err := store.CheckActionID(a.Action); err != nil {
		return false, err
	}
	rounded := store.RoundAlarm(a)
	document, err := json.Marshal(rounded)
	if err != nil {
		return false, fmt.Errorf("save alarm: %w", err)
	}
	var next *time.Time
	if !a.Next.IsZero() {
		next = &rounded.Next
	}
	saved, err := s.saveVersion(ctx, a.Version,
		`INSERT INTO hearken_alarm (version, next_at, firing_at, document, action)
		VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
		`UPDATE hearken_alarm SET version = $1, next_at = $2, firing_at = $3, document = $4 WHERE action = $5 AND version = $6`,
		a.Version+1, next, rounded.Firing, string(document), a.Action)
	if err != nil {
		return false, fmt.Errorf("save alarm: %w", err)
	}
	if saved {
		a.Version++
	}
	return saved, nil
}

// Alarms implements [hearken.ActionStore]. An alarm that is firing is sorted by
// that time. One without a time comes last.
func (s *Store) Alarms(ctx context.Context, before time.Time) ([]hearken.Alarm, error) {
	w := where{}
	if !before.IsZero() {
		w.and(`(next_at < %s OR firing_at IS NOT NULL)`, store.CeilTime(before))
	}
	rows, err := s.pool.Query(ctx, `SELECT version, document::text FROM hearken_alarm`+w.String()+
		` ORDER BY coalesce(firing_at, next_at) NULLS LAST, action`, w.args...)
	if err != nil {
		return nil, fmt.Errorf("list alarms: %w", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (a hearken.Alarm, err error) {
		var version int
		var document string
		if err := row.Scan(&version, &document); err != nil {
			return a, err
		}
		err = json.Unmarshal([]byte(document), &a)
		a.Version = version
		return a, err
	})
	if err != nil {
		return nil, fmt.Errorf("list alarms: %w", err)
	}
	return found, nil
}
