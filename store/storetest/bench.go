package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
)

// BenchmarkActions measures a change of one action among a thousand, which each
// step of an action needs, and the most frequent lookups.
func BenchmarkActions(b *testing.B, store hearken.ActionStore) {
	const count = 1000
	actions := make([]*hearken.Action, count)
	for n := range actions {
		actions[n] = fullAction()
		actions[n].ID, actions[n].IdempotencyKey = actionID("msg_", n), message(n).IdempotencyKey
		if n%100 == 0 {
			actions[n].State = hearken.ActionPending
		}
		if saved, err := store.SaveAction(b.Context(), actions[n]); err != nil || !saved {
			b.Fatal(saved, err)
		}
	}
	b.Run("Save", func(b *testing.B) {
		var took []time.Duration
		for n := 0; b.Loop(); n++ {
			start := time.Now()
			saved, err := store.SaveAction(b.Context(), actions[n*7%count])
			if err != nil || !saved {
				b.Fatal(saved, err)
			}
			took = append(took, time.Since(start))
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
		b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	})
	for name, tt := range map[string]struct {
		filter hearken.ActionFilter
		want   int
	}{
		"Same":    {hearken.ActionFilter{IdempotencyKey: message(7).IdempotencyKey}, 1},
		"Pending": {hearken.ActionFilter{States: []hearken.ActionState{hearken.ActionPending}}, count / 100},
		"Newest":  {hearken.ActionFilter{Limit: 50}, 50},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if found, err := store.Actions(b.Context(), tt.filter); err != nil || len(found) != tt.want {
					b.Fatal(len(found), err)
				}
			}
		})
	}
}
