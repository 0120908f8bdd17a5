package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

func (s *Store) SaveAlarm(ctx context.Context, a *hearken.Alarm) (bool, error) {
	if err := store.CheckActionID(a.Action); err != nil {
		return false, err
	}
	document, err := json.Marshal(store.RoundAlarm(a))
	if err != nil {
		return false, fmt.Errorf("save alarm: %w", err)
	}
	var next *int64
	if !a.Next.IsZero() {
		next = toMicros(&a.Next)
	}
	saved, err := s.saveVersion(ctx, &a.Version,
		`INSERT INTO alarm (version, next_at, firing_at, document, action) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		`UPDATE alarm SET version = ?, next_at = ?, firing_at = ?, document = ? WHERE action = ? AND version = ?`,
		a.Version+1, next, toMicros(a.Firing), string(document), a.Action)
	return saved, store.Wrap(err, "save alarm")
}

// Alarms implements [hearken.ActionStore]. An alarm that is firing is sorted by
// that time. One without a time comes last.
func (s *Store) Alarms(ctx context.Context, before time.Time) ([]hearken.Alarm, error) {
	w := store.Where{}
	if !before.IsZero() {
		w.And(`(next_at < ? OR firing_at IS NOT NULL)`, ceilMicros(before))
	}
	var found []hearken.Alarm
	err := s.eachRow(ctx, `SELECT version, document FROM alarm`+w.String()+
		` ORDER BY coalesce(firing_at, next_at) NULLS LAST, action`, w.Args, func(rows *sql.Rows) (bool, error) {
		var version int
		var document sql.RawBytes
		if err := rows.Scan(&version, &document); err != nil {
			return false, err
		}
		var a hearken.Alarm
		err := json.Unmarshal(document, &a)
		a.Version = version
		found = append(found, a)
		return true, err
	})
	return found, store.Wrap(err, "list alarms")
}
