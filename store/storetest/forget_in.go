package storetest

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hearken-dev/hearken"
)

// ForgetQuotes returns a change that removes the quotes of a session from an
// action.
func ForgetQuotes(session string) func(*hearken.Action) bool {
	return func(a *hearken.Action) (changed bool) {
		for i := range a.Evidence {
			if e := &a.Evidence[i]; e.Session == session && e.Quote != "" {
				e.Quote, e.Deleted, changed = "", true, true
			}
		}
		return changed
	}
}

func forgetInActions(t *testing.T, store hearken.Store) {
	for n := 1; n <= 3; n++ {
		a := fullAction()
		a.ID, a.Call, a.Evidence[0].Session, a.Evidence[0].Deleted = actionID("msg_", n), "", id(n%2), false
		saveAction(t, store, a)
	}
	before := findAction(t, store, actionID("msg_", 3))
	forget := func(session string, want int) {
		t.Helper()
		if n, err := store.ForgetInActions(t.Context(), session, ForgetQuotes(session)); err != nil || n != want {
			t.Fatalf("%d changed, want %d; %v", n, want, err)
		}
	}
	seen := func(session string) int {
		t.Helper()
		shown := map[string]bool{}
		n, err := store.ForgetInActions(t.Context(), session, func(a *hearken.Action) bool {
			shown[a.ID] = true
			return false
		})
		if n != 0 || err != nil {
			t.Fatalf("%d changed, %v", n, err)
		}
		return len(shown)
	}
	equal(t, []int{0, 1, 2, 3}, []int{seen(id(7)), seen(id(0)), seen(id(1)), seen("")})
	forget(id(7), 0)
	forget(id(1), 2)
	forget(id(1), 0)
	want := *before
	want.Version++
	want.Evidence = []hearken.Evidence{before.Evidence[0], before.Evidence[1]}
	want.Evidence[0].Quote, want.Evidence[0].Deleted = "", true
	equal(t, &want, findAction(t, store, want.ID))
	other := findAction(t, store, actionID("msg_", 2))
	equal(t, []any{1, "on Friday"}, []any{other.Version, other.Evidence[0].Quote})
	// Whoever read the action before must read it again.
	if saved, err := store.SaveAction(t.Context(), before); err != nil || saved {
		t.Errorf("the quote is back: %t, %v", saved, err)
	}
	// It is still found by what filters look at.
	equal(t, "3 2 1", actionNumbers(t, store, hearken.ActionFilter{
		Grant: "grant 1", IdempotencyKey: before.IdempotencyKey, States: []hearken.ActionState{hearken.ActionDone}, PendingAudit: true,
	}))
}

// forgetWhileDeciding checks that neither a decision nor a deletion is lost if
// both happen at once.
func forgetWhileDeciding(t *testing.T, store hearken.Store) {
	const count = 40
	for n := range count {
		a := message(n + 1)
		a.Evidence = []hearken.Evidence{{Arg: "text", Session: id(1), Quote: "on Friday"}}
		saveAction(t, store, a)
	}
	var all sync.WaitGroup
	var changed atomic.Int64
	for range 2 {
		all.Go(func() {
			for range 5 {
				n, err := store.ForgetInActions(t.Context(), id(1), ForgetQuotes(id(1)))
				if err != nil {
					t.Errorf("forget: %v", err)
				}
				changed.Add(int64(n))
			}
		})
	}
	for n := range count {
		all.Go(func() {
			for {
				a, err := store.Action(t.Context(), message(n+1).ID)
				if err != nil {
					t.Errorf("action: %v", err)
					return
				}
				a.State = hearken.ActionApproved
				saved, err := store.SaveAction(t.Context(), a)
				if err != nil {
					t.Errorf("save: %v", err)
				}
				if saved || err != nil {
					return
				}
			}
		})
	}
	all.Wait()
	equal(t, count, int(changed.Load()))
	found, err := store.Actions(t.Context(), hearken.ActionFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range found {
		if a.State != hearken.ActionApproved || a.Evidence[0].Quote != "" || a.Version != 3 {
			t.Errorf("%s is %s in version %d and quotes %q", a.ID, a.State, a.Version, a.Evidence[0].Quote)
		}
	}
}

// ForgetsQuotes checks that no byte remains of the quotes that were removed from
// actions, in whatever order that happens. The function content returns all that
// the store's files contain.
func ForgetsQuotes(t *testing.T, store hearken.Store, content func() string) {
	const count, sessions = 120, 12
	mark := func(n int) string { return fmt.Sprintf("qz%03dzq", n) }
	for round := range 3 { // in turns, so that their rows are mixed and grow
		for n := range count {
			a := message(n + 1)
			a.Version = round
			words := 1 + n*n%20 + round*(n%50)
			if n%9 == 0 {
				words += 1000
			}
			a.Evidence = []hearken.Evidence{
				{Arg: "to", Session: id(n % sessions), Quote: mark(n)},
				{Arg: "text", Session: id(n % sessions), Quote: strings.Repeat(mark(n)+" ", words)},
			}
			saveAction(t, store, a)
		}
	}
	if !strings.Contains(content(), mark(0)) {
		t.Fatal("the scan finds nothing")
	}
	for i := range sessions {
		gone := i * 7 % sessions
		if n, err := store.ForgetInActions(t.Context(), id(gone), ForgetQuotes(id(gone))); err != nil || n != count/sessions {
			t.Fatalf("%d actions changed, %v", n, err)
		}
		all := strings.ToLower(content())
		for n := range count {
			done := n%sessions*7%sessions <= i // 7 is its own inverse
			if left := strings.Contains(all, mark(n)); left == done {
				t.Fatalf("after session %d there are traces of %d: %t, want %t", gone, n, left, !done)
			}
		}
	}
	equal(t, "On Friday.", findAction(t, store, message(1).ID).Message.Text)
}
