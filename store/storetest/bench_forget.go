package storetest

import (
	"testing"

	"github.com/hearken-dev/hearken"
)

// BenchmarkForgetInActions measures how long it takes to forget a session among
// ten thousand actions, if one of them quotes it and if none does.
func BenchmarkForgetInActions(b *testing.B, store hearken.ActionStore) {
	const count = 10_000
	for n := range count {
		a := fullAction()
		a.ID, a.Evidence[0].Session, a.Call = actionID("msg_", n), id(n), ""
		if saved, err := store.SaveAction(b.Context(), a); err != nil || !saved {
			b.Fatal(saved, err)
		}
	}
	forget := func(b *testing.B, session string, want int) {
		if n, err := store.ForgetInActions(b.Context(), session, ForgetQuotes(session)); err != nil || n != want {
			b.Fatalf("%d changed, want %d; %v", n, want, err)
		}
	}
	b.Run("One", func(b *testing.B) {
		for n := 0; b.Loop(); n++ {
			forget(b, id(n), 1)
		}
	})
	b.Run("None", func(b *testing.B) {
		for b.Loop() {
			forget(b, id(count), 0)
		}
	})
}
