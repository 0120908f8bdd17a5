package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
)

// BenchmarkSaveAction measures a change of one action among a thousand, as each
// step of an action's life is one.
func BenchmarkSaveAction(b *testing.B, store hearken.ActionStore) {
	const among = 1000
	actions := make([]*hearken.Action, among)
	for n := range actions {
		actions[n] = fullAction()
		actions[n].ID = actionID("msg_", n)
		if saved, err := store.SaveAction(b.Context(), actions[n]); err != nil || !saved {
			b.Fatal(saved, err)
		}
	}
	var took []time.Duration
	for n := 0; b.Loop(); n++ {
		start := time.Now()
		saved, err := store.SaveAction(b.Context(), actions[n*7%among])
		if err != nil || !saved {
			b.Fatal(saved, err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}
