package jsonfile

import (
	"context"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

// A storedAlarm adds the version, which the JSON of an alarm omits.
type storedAlarm struct {
	hearken.Alarm
	Version int `json:"version"`
}

func (s *Store) SaveAlarm(ctx context.Context, a *hearken.Alarm) (bool, error) {
	if err := store.CheckActionID(a.Action); err != nil {
		return false, err
	}
	saved, err := s.saveVersion(ctx, alarmsDir, a.Action, &a.Version, &storedAlarm{*store.RoundAlarm(a), a.Version + 1})
	return saved, store.Wrap(err, "save alarm")
}

// Alarms implements [hearken.ActionStore]. An alarm that is firing is sorted by
// that time. One without a time comes last.
func (s *Store) Alarms(ctx context.Context, before time.Time) ([]hearken.Alarm, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var found []hearken.Alarm
	err := readAll(ctx, s, alarmsDir, func(k *storedAlarm) {
		k.Alarm.Version = k.Version
		found = append(found, k.Alarm)
	})
	return store.SelectAlarms(found, before), store.Wrap(err, "list alarms")
}
