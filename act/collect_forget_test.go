package act

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store/storetest"
)

// endedCalls is a past without live audio.
type endedCalls struct{}

func (endedCalls) LiveSession() (id string, lastAudio time.Time) { return "", time.Time{} }

func (endedCalls) AudioEnd(context.Context, string) (lastAudio time.Time, active bool) {
	return time.Now().Add(-time.Minute), false
}

// noRecords is an audit that keeps nothing.
type noRecords struct{}

func (noRecords) Append(context.Context, hearken.AuditRecord) error { return nil }

// The queue remembers only calls and actions that somebody still has to decide
// about.
func TestSettleCalls_Forgets(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		store := storetest.NewMemory()
		exposure, err := OpenExposure(t.Context(), ExposureConfig{Store: store})
		if err != nil {
			t.Fatal(err)
		}
		q, err := Open(t.Context(), Config{Dir: dir, Store: store, Audit: noRecords{}, Exposure: exposure, Zone: time.UTC, Calls: endedCalls{}})
		if err != nil {
			t.Fatal(err)
		}
		if err := q.Close(t.Context()); err != nil { // from here on the test is the worker
			t.Fatal(err)
		}
		now := time.Now()
		a := hearken.Action{ID: hearken.NewActionID(hearken.MessageSend), State: hearken.ActionPending, Call: "call", CreatedAt: now, ExpiresAt: now.Add(time.Hour)}
		if _, err := store.SaveAction(t.Context(), &a); err != nil {
			t.Fatal(err)
		}
		q.urged[a.ID] = true
		for range 2 {
			q.settleCalls(t.Context(), []hearken.Action{a})
			if !q.announced["call"] || !q.urged[a.ID] {
				t.Errorf("while it waits: calls %v, actions %v", q.announced, q.urged)
			}
		}
		q.settleCalls(t.Context(), nil)
		if len(q.announced) != 0 || len(q.urged) != 0 {
			t.Errorf("afterwards: calls %v, actions %v", q.announced, q.urged)
		}
	})
}
