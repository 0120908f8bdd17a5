package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
)

var concurrencyTests = []test{
	{"ManyWriters", func(t *testing.T, store hearken.Store) {
		const writers, rounds = 8, 12
		shared := session(100)
		save(t, store, shared)
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				own := session(w + 1)
				for line := 1; line <= rounds; line++ {
					g := segment(own, line, fmt.Sprintf("apple number %d", line))
					if err := store.Save(t.Context(), own, []hearken.Segment{g}); err != nil {
						t.Errorf("save: %v", err)
					}
					// All writers save the same lines of the shared session.
					if err := store.Save(t.Context(), shared, []hearken.Segment{segment(shared, line, "pear")}); err != nil {
						t.Errorf("save: %v", err)
					}
				}
			})
			all.Go(func() {
				for range rounds {
					if _, err := store.Search(t.Context(), hearken.Query{Text: "apple number"}); err != nil {
						t.Errorf("search: %v", err)
					}
					list, err := store.Sessions(t.Context(), hearken.SessionFilter{})
					if err != nil {
						t.Errorf("sessions: %v", err)
					}
					for _, s := range list {
						if _, err := store.Segments(t.Context(), s.ID, 1, 100, true); err != nil {
							t.Errorf("segments: %v", err)
						}
					}
				}
			})
		}
		all.Wait()
		for w := range writers {
			equal(t, rounds, len(segments(t, store, id(w+1), 1, 100, false)))
		}
		equal(t, rounds, len(segments(t, store, shared.ID, 1, 100, false)))
		equal(t, writers*rounds, len(search(t, store, hearken.Query{Text: "apple", Limit: 1000})))
		equal(t, rounds, len(search(t, store, hearken.Query{Text: "pear", Limit: 1000})))
	}},
	{"OneWriterWins", func(t *testing.T, store hearken.Store) { OneWriterWins(t, store) }},
	{"Actions", func(t *testing.T, store hearken.Store) {
		const writers, rounds = 8, 10
		var all sync.WaitGroup
		var forgotten atomic.Int64
		for w := range writers {
			all.Go(func() {
				for n := range rounds {
					a := message(w*rounds + n + 1)
					a.Evidence = []hearken.Evidence{{Arg: "text"}}
					for _, state := range []hearken.ActionState{hearken.ActionPending, hearken.ActionApproved, hearken.ActionDone} {
						a.State = state
						if state.Final() {
							a.EndedAt = new(noon.Add(time.Duration(n%2) * time.Hour))
						}
						if saved, err := store.SaveAction(t.Context(), a); err != nil || !saved {
							t.Errorf("save action: %t, %v", saved, err)
						}
					}
					c := &hearken.Contact{ID: fmt.Sprint(w, n), Name: "Anna", Emails: []string{"anna@example.com"}}
					if err := store.SaveContact(t.Context(), c); err != nil {
						t.Errorf("save contact: %v", err)
					}
					g := &hearken.Grant{ID: fmt.Sprint(w, n), CreatedAt: noon}
					if err := store.SaveGrant(t.Context(), g); err != nil {
						t.Errorf("save grant: %v", err)
					}
				}
			})
			all.Go(func() {
				for n := range rounds {
					found, err := store.Actions(t.Context(), hearken.ActionFilter{})
					if err != nil {
						t.Errorf("actions: %v", err)
					}
					for i := range found {
						found[i].Evidence[0].Quote = "changed" // a reader may change what it read
					}
					_, err1 := store.Alarms(t.Context(), time.Time{})
					_, err2 := store.Grants(t.Context())
					_, err3 := store.Contacts(t.Context())
					if err := errors.Join(err1, err2, err3); err != nil {
						t.Errorf("list: %v", err)
					}
					if w == 0 && n%3 == 0 {
						n, err := store.ForgetActions(t.Context(), noon.Add(time.Minute))
						if err != nil {
							t.Errorf("forget: %v", err)
						}
						forgotten.Add(int64(n))
					}
				}
			})
		}
		all.Wait()
		n, err := store.ForgetActions(t.Context(), noon.Add(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		equal(t, writers*rounds/2, int(forgotten.Load())+n)
		found, err := store.Actions(t.Context(), hearken.ActionFilter{})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, writers*rounds/2, len(found))
		for _, a := range found {
			if a.Version != 3 || a.State != hearken.ActionDone || a.Evidence[0].Quote != "" {
				t.Errorf("%+v", a)
			}
		}
	}},
	{"ForgetWhileDeciding", forgetWhileDeciding},
	{"DeleteWhileSaving", func(t *testing.T, store hearken.Store) {
		var all sync.WaitGroup
		for n := range 4 {
			all.Go(func() {
				s := session(n + 1)
				for line := 1; line <= 8; line++ {
					if err := store.Save(t.Context(), s, []hearken.Segment{segment(s, line, "apple")}); err != nil {
						t.Errorf("save: %v", err)
					}
				}
				if err := store.Delete(t.Context(), s.ID); err != nil {
					t.Errorf("delete: %v", err)
				}
			})
		}
		all.Wait()
		equal(t, 0, len(search(t, store, hearken.Query{Text: "apple"})))
	}},
	{"Canceled", func(t *testing.T, store hearken.Store) {
		s := saveTranscript(t, store, 1, "one")
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		if err := store.Save(canceled, s, []hearken.Segment{segment(s, 2, "two")}); err == nil {
			t.Error("saved with a canceled context")
		}
		if _, err := store.Search(canceled, hearken.Query{Text: "one"}); err == nil {
			t.Error("searched with a canceled context")
		}
		save(t, store, s, segment(s, 2, "two"))
		equal(t, "1 2", lines(segments(t, store, s.ID, 1, 10, false)))
	}},
}

const (
	writers = 20
	records = 50 // each of which all writers try to change; make bench has more
)

// OneWriterWins lets many writers save the same version of actions and alarms at
// once, through one store or several that have the same data open. Exactly one
// of them must succeed, and its change must be what is stored.
func OneWriterWins(t *testing.T, stores ...hearken.Store) {
	t.Run("Actions", func(t *testing.T) {
		winners := race(t, stores, func(store hearken.Store, record, writer, version int) (bool, int, error) {
			a := message(record + 1)
			a.Version, a.Client = version, fmt.Sprint(writer)
			saved, err := store.SaveAction(t.Context(), a)
			return saved, a.Version, err
		})
		for record, winner := range winners {
			for _, store := range stores {
				got := findAction(t, store, message(record+1).ID)
				if got.Client != fmt.Sprint(winner) || got.Version != 2 {
					t.Errorf("action %d is by %s with version %d, but %d won", record, got.Client, got.Version, winner)
				}
			}
		}
	})
	t.Run("Alarms", func(t *testing.T) {
		winners := race(t, stores, func(store hearken.Store, record, writer, version int) (bool, int, error) {
			a := &hearken.Alarm{Action: actionID("rem_", record+1), Version: version, Next: noon, Error: fmt.Sprint(writer)}
			saved, err := store.SaveAlarm(t.Context(), a)
			return saved, a.Version, err
		})
		for _, store := range stores {
			found := alarms(t, store, time.Time{})
			if len(found) != len(winners) {
				t.Fatalf("%d alarms, want %d", len(found), len(winners))
			}
			for record, got := range found {
				if got.Error != fmt.Sprint(winners[record]) || got.Version != 2 {
					t.Errorf("alarm %d is by %s with version %d, but %d won", record, got.Error, got.Version, winners[record])
				}
			}
		}
	})
}

// race lets every writer try to create each record, and then to change it. It
// returns which writer changed each.
func race(t *testing.T, stores []hearken.Store, try func(store hearken.Store, record, writer, version int) (saved bool, now int, err error)) []int64 {
	t.Helper()
	var created, changed [records]atomic.Int64
	winners := make([]int64, records)
	start := make(chan struct{})
	var all sync.WaitGroup
	for writer := range writers {
		store := stores[writer%len(stores)]
		all.Go(func() {
			<-start
			for record := range records {
				for version, won := range []*atomic.Int64{&created[record], &changed[record]} {
					saved, now, err := try(store, record, writer, version)
					switch {
					case err != nil:
						t.Errorf("writer %d: %v", writer, err)
					case saved && now != version+1, !saved && now != version:
						t.Errorf("writer %d: saved %t makes version %d of %d", writer, saved, now, version)
					case saved:
						won.Add(1)
						if version == 1 {
							atomic.StoreInt64(&winners[record], int64(writer))
						}
					}
				}
			}
		})
	}
	close(start)
	all.Wait()
	for record := range records {
		if created, changed := created[record].Load(), changed[record].Load(); created != 1 || changed != 1 {
			t.Errorf("record %d was created by %d writers and changed by %d", record, created, changed)
		}
	}
	return winners
}
