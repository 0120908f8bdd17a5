package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

func (s *Store) SaveAlarm(ctx context.Context, a *hearken.Alarm) (bool, error) {
	if err := store.CheckActionID(a.Action); err != nil {
		return false, err
	}
	rounded := store.RoundAlarm(a)
	var next *time.Time
	if !a.Next.IsZero() {
		next = &rounded.Next
	}
	saved, err := s.saveVersion(ctx, &a.Version,
		`INSERT INTO hearken_alarm (version, next_at, firing_at, document, action)
		VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
		`UPDATE hearken_alarm SET version = $1, next_at = $2, firing_at = $3, document = $4 WHERE action = $5 AND version = $6`,
		a.Version+1, next, rounded.Firing, rounded, a.Action)
	return saved, store.Wrap(err, "save alarm")
}

// Alarms implements [hearken.ActionStore]. An alarm that is firing is sorted by
// that time. One without a time comes last.
func (s *Store) Alarms(ctx context.Context, before time.Time) ([]hearken.Alarm, error) {
	w := store.Where{}
	if !before.IsZero() {
		w.And(`(next_at < ? OR firing_at IS NOT NULL)`, store.CeilTime(before))
	}
	found, err := collect(ctx, s, func(row pgx.CollectableRow) (a hearken.Alarm, err error) {
		err = row.Scan(&a, &a.Version) // in this order: the document resets the version
		return a, err
	}, `SELECT document, version FROM hearken_alarm`+numbered(w)+
		` ORDER BY coalesce(firing_at, next_at) NULLS LAST, action`, w.Args...)
	return found, store.Wrap(err, "list alarms")
}
